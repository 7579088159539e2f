package import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation
internal import GRDB
internal import Synchronization

// DESIGN. Retention must know which thumbnails are still read, without slowing readers or wearing out the disk. A
// reader only adds the URI to a set in memory. A second later, one task selects the thumbnails whose last recorded use
// is more than an hour old (like `relatime` in file systems) and records them in one transaction: a page of a thousand
// thumbnails costs one transaction, and none for the rest of the hour. If the store is read-only, busy or full, nothing
// is recorded; the read itself still succeeds, and the next one is recorded.
extension SQLiteStore {
    /// How long names are collected before they are recorded.
    private static let gathering = Duration.seconds(1)
    private static let readingsOfATransaction = 1_000

    package func noteReading(of uri: CameoURI) {
        if case .source = uri { return }
        guard writes != nil, case .recordSoon = readings.withLock({ $0.add(uri) }) else { return }
        // The task keeps the store open until then.
        Task(priority: .utility) {
            // Nothing cancels this task; cancellation would only record the names sooner.
            try? await Task.sleep(for: Self.gathering)
            await recordReadings()
        }
    }

    /// Records everything read so far, including what another task has scheduled.
    func recordReadings() async {
        await readings.withLock { $0.takeAll { await self.record($0) } }.value
    }

    private func record(_ names: Set<CameoURI>) async {
        guard !names.isEmpty else { return }
        do throws(StoreError) {
            // Usually there is nothing to write, so a read transaction checks first.
            let due = try await read { db in try db.thumbnails(dueBy: names) }
            for start in stride(from: 0, to: due.count, by: Self.readingsOfATransaction) {
                let some = Array(due[start..<min(start + Self.readingsOfATransaction, due.count)])
                try await commit(.begun) { db in try db.noteUse(of: some) }
            }
        } catch {
            // Nobody waits for the result. Writers report the same error, and the next read is recorded.
        }
    }
}
