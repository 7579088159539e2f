package import CameoModel
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
            let due = try await read { db in try Self.thumbnails(dueBy: names, db) }
            for start in stride(from: 0, to: due.count, by: Self.readingsOfATransaction) {
                let some = Array(due[start..<min(start + Self.readingsOfATransaction, due.count)])
                try await commit(.begun) { db in try db.noteUse(of: some) }
            }
        } catch {
            // Nobody waits for the result. Writers report the same error, and the next read is recorded.
        }
    }

    /// The thumbnails behind the names whose last recorded use is more than a step ago.
    private static func thumbnails(
        dueBy names: Set<CameoURI>,
        _ db: SQLiteTransaction
    ) throws -> [ThumbnailID] {
        let byID = try db.cachedStatement(sql: "SELECT id FROM thumbnail WHERE id = ? AND used_at <= ?")
        let byBlob = try db.cachedStatement(sql: "SELECT id FROM thumbnail WHERE blob = ? AND used_at <= ?")
        let time = db.now - stepMilliseconds
        var ids: Set<String> = []
        for name in names {
            switch name {
            case .thumbnail(let id): ids.formUnion(try String.fetchAll(byID, arguments: [id.text, time]))
            case .blob(let digest): ids.formUnion(try String.fetchAll(byBlob, arguments: [digest.hex, time]))
            case .source: break
            }
        }
        return ids.compactMap { ThumbnailID($0) }
    }

    private static let stepMilliseconds = Int64(Retention.readingStep.milliseconds)
}

extension SQLiteTransaction {
    /// Records that thumbnails were used, unless a use was recorded within the last hour.
    func noteUse(of thumbnails: [ThumbnailID]) throws {
        for id in thumbnails {
            try execute(
                "UPDATE thumbnail SET read_at = ?1 WHERE id = ?2 AND used_at <= ?3",
                [now, id.text, now - Int64(Retention.readingStep.milliseconds)]
            )
        }
    }
}
