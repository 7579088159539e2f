package import CameoModel
package import CameoStore
internal import Foundation

/// Waits until jobs have ended, showing how far they are.
package struct JobWait {
    let store: Store
    /// Nil: for ever.
    let timeout: Duration?

    package init(store: Store, timeout: Duration?) {
        self.store = store
        self.timeout = timeout
    }

    /// - Returns: how many ended in each state.
    /// - Throws: ``CommandFailure`` with ``ExitStatus/timedOut`` when time runs out.
    package func untilFinished(_ ids: [Int64]) async throws -> [JobState: Int] {
        let started = ContinuousClock.now
        var progress = ProgressBar()
        defer { progress.finish() }
        var version: Int?
        while true {
            let current = try await store.dataVersion()
            if current != version {
                version = current
                let states = try await store.states(of: ids)
                let known = states.values.reduce(0, +)
                let done = states.filter(\.key.isFinal).values.reduce(0, +)
                let discarded = states[.discarded] ?? 0
                progress.show(done: done, of: known, note: discarded > 0 ? "\(discarded) discarded" : "")
                if done == known { return states }
            }
            if let timeout, started.duration(to: .now) >= timeout {
                throw CommandFailure("not finished within \(Int(timeout.seconds)) s", .timedOut)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
