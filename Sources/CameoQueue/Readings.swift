package import CameoModel
internal import CameoStore
internal import Synchronization

// DESIGN. Retention must know which thumbnails are still read, without slowing readers or wearing out the disk. A
// reader only adds the URI to a set in memory. A second later, one task selects the thumbnails whose last recorded use
// is more than an hour old (like `relatime` in file systems) and records them in one transaction. If the store is
// read-only, busy or full, nothing is recorded; the read itself still succeeds, and the next one is recorded.

/// What was read and is not recorded yet.
package final class Readings: Sendable {
    private struct State {
        var names: Set<CameoURI> = []
        /// The last task that records names; each waits for the one before.
        var writing: Task<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    package var names: Set<CameoURI> { state.withLock { $0.names } }

    /// Returns whether it is the first since the names were taken last: then they have to be recorded soon.
    fileprivate func add(_ name: CameoURI) -> Bool {
        state.withLock { state in
            defer { state.names.insert(name) }
            return state.names.isEmpty
        }
    }

    /// Starts recording all names, after those that are already being recorded.
    package func takeAll(_ write: @escaping @Sendable (Set<CameoURI>) async -> Void) -> Task<Void, Never> {
        state.withLock { state in
            let (taken, before) = (state.names, state.writing)
            let task = Task(priority: .utility) {
                await before?.value
                await write(taken)
            }
            state = State(writing: task)
            return task
        }
    }
}

extension QueueStore {
    package func noteReading(of uri: CameoURI) {
        if case .source = uri { return }
        guard !isReadOnly, readings.add(uri) else { return }
        // The task keeps the store open until then.
        Task(priority: .utility) {
            // Nothing cancels this task; cancellation would only record the names sooner.
            try? await Task.sleep(for: .seconds(1))
            await recordReadings()
        }
    }

    /// Records everything read so far, including what another task has scheduled.
    package func recordReadings() async {
        await readings.takeAll { names in
            guard !names.isEmpty else { return }
            do throws(StoreError) {
                // Usually there is nothing to write, so a read transaction checks first.
                let due = try await self.read { db in try db.thumbnails(dueBy: names) }
                for start in stride(from: 0, to: due.count, by: 1_000) {
                    let some = Array(due[start..<min(start + 1_000, due.count)])
                    try await self.commit(.begun) { db in try db.noteUse(of: some) }
                }
            } catch {
                // Nobody waits for the result. Writers report the same error, and the next read is recorded.
            }
        }.value
    }
}
