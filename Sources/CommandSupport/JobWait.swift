package import CameoModel
package import CameoStore
internal import Foundation

/// Waits until jobs have ended, showing how far they are.
package struct JobWait {
    let store: any Store
    /// Nil: for ever.
    let timeout: Duration?

    package init(store: any Store, timeout: Duration?) {
        self.store = store
        self.timeout = timeout
    }

    /// - Returns: how many ended in each state.
    /// - Throws: ``CommandFailure`` with ``ExitStatus/timedOut`` when time runs out.
    package func untilFinished(_ ids: [Int64]) async throws -> [JobState: Int] {
        let started = ContinuousClock.now
        // A long list is looked at less often: the workers need the processor more.
        let interval = Duration.milliseconds(ids.count <= 100 ? 20 : 250)
        var progress = ProgressBar()
        defer { progress.finish() }
        var version: Int?
        var waiting = ids
        var ended: [JobState: Int] = [:]
        while true {
            let current = try await store.version()
            if current != version {
                version = current
                let states = try await store.states(of: waiting)
                waiting = waiting.filter { states[$0].map { !$0.isFinal } ?? false }
                for state in states.values where state.isFinal { ended[state, default: 0] += 1 }
                let done = ended.values.reduce(0, +)
                let discarded = ended[.discarded] ?? 0
                let note = discarded > 0 ? "\(discarded) discarded" : ""
                progress.show(done: done, of: done + waiting.count, note: note)
                if waiting.isEmpty { return ended }
            }
            if let timeout, started.duration(to: .now) >= timeout {
                throw CommandFailure("not finished within \(timeout.argument)", .timedOut)
            }
            try await Task.sleep(for: interval)
        }
    }
}
