package import CameoModel
internal import CameoStore
internal import Foundation
internal import GRDB
internal import Synchronization

// DESIGN. Retention has to know which thumbnails are still read, and for that no reader may wait and no disk be worn. So a
// reader only leaves the name that it read by, in memory. A second later one task looks which of the names gathered by
// then stand for thumbnails whose last use was noted more than an hour ago (as a file system does with `relatime`), and
// writes those down in one transaction: a page of a thousand thumbnails is one transaction, and none for the rest of the
// hour. A store that is opened for reading, busy or full notes nothing; the reading succeeds all the same, and the next
// one is noted.
extension SQLiteStore {
    /// How long names are gathered.
    private static let gathering = Duration.seconds(1)
    /// Thumbnails that one transaction writes down, at most.
    private static let readingsOfATransaction = 1_000

    package func noteReading(of uri: CameoURI) {
        if case .source = uri { return }
        guard writes != nil, case .writeDownSoon = readings.withLock({ $0.add(uri) }) else { return }
        // It keeps the store open until then, whoever lets go of it.
        Task(priority: .utility) {
            // Nobody cancels this task; if somebody did, the names would be written down the sooner.
            try? await Task.sleep(for: Self.gathering)
            await writeDownReadings()
        }
    }

    /// Writes down what was read so far, also what another task is about to.
    func writeDownReadings() async {
        await readings.withLock { $0.takeAll { await self.writeDown($0) } }.value
    }

    private func writeDown(_ names: Set<CameoURI>) async {
        guard !names.isEmpty else { return }
        let now = nowMilliseconds
        do throws(StoreError) {
            // Seldom is there anything to write; so a reader looks first.
            let due = try await read { db in try Self.thumbnails(dueBy: names, now: now, db) }
            for start in stride(from: 0, to: due.count, by: Self.readingsOfATransaction) {
                let some = Array(due[start..<min(start + Self.readingsOfATransaction, due.count)])
                try await commit(.begun) { db in try Self.noteUse(of: some, now: now, db) }
            }
        } catch {
            // Nobody waits for this who could be told: whoever writes hears of the same trouble, and the next reading is
            // noted.
        }
    }

    /// Writes down that thumbnails are read or made, unless that was done within the last hour.
    static func noteUse(of thumbnails: [ThumbnailID], now: Int64, _ db: Database) throws {
        let note = try db.cachedStatement(sql: "UPDATE thumbnail SET read_at = ? WHERE id = ? AND used_at <= ?")
        for id in thumbnails { try note.execute(arguments: [now, id.text, now - stepMilliseconds]) }
    }

    /// Those that names stand for and whose last use was noted more than a step ago.
    private static func thumbnails(
        dueBy names: Set<CameoURI>,
        now: Int64,
        _ db: Database
    ) throws -> [ThumbnailID] {
        let byID = try db.cachedStatement(sql: "SELECT id FROM thumbnail WHERE id = ? AND used_at <= ?")
        let byBlob = try db.cachedStatement(sql: "SELECT id FROM thumbnail WHERE blob = ? AND used_at <= ?")
        let time = now - stepMilliseconds
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
