internal import CameoModel
internal import CameoStore
internal import GRDB

// DESIGN. An index that lacks rows of its table, or has some that are not there, gives wrong answers, and stops every change
// of such a row (SQLITE_CORRUPT_INDEX). The table has all that the index should have, so it is built anew from it, each in
// a transaction of its own: others wait for one of them at a time. Where pages of tables are damaged nothing is tried, as a
// rebuilding reads them.
extension SQLiteStore {
    /// - Returns: names of the indexes that were rebuilt, and how many jobs ended because another stands for their key.
    func rebuildIndexes() async throws(StoreError) -> (indexes: [String], jobs: Int) {
        let damaged = try await read { db in
            try IntegrityFault.rebuildableIndexes(db)
        }
        var rebuilt: [String] = []
        for index in damaged.subtracting([Self.standingIndex]).sorted() {
            do throws(StoreError) {
                let isRebuilt = try await commit { db in try Self.rebuild(index, db) }
                if isRebuilt { rebuilt.append(index) }
            } catch {
                // Rows that should be unique are not: the check that follows names them.
                guard case .refused = error else { throw error }
            }
        }
        guard damaged.contains(Self.standingIndex) else { return (rebuilt, 0) }
        // Last, because it changes rows that other indexes are of.
        let now = nowMilliseconds
        let superseded = try await commit { db in try Self.rebuildStandingIndex(now: now, db) }
        return (rebuilt + [Self.standingIndex], superseded)
    }

    /// - Returns: false if it is not there any more.
    private static func rebuild(_ index: String, _ db: Database) throws -> Bool {
        // Looked for by a query: unlike REINDEX, it has SQLite read the schema anew if another program has changed it.
        let isThere = try Bool.fetchOne(
            db,
            sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?)",
            arguments: [index]
        )
        guard isThere == true else { return false }
        try db.execute(sql: "REINDEX \(index.sqlIdentifier)")
        return true
    }

    /// While the index was damaged several jobs may have come to stand for one key: the first stands on, and the others
    /// end in its favour, as they would have before.
    ///
    /// - Returns: how many ended.
    private static func rebuildStandingIndex(now: Int64, _ db: Database) throws -> Int {
        let definition = try String.fetchOne(
            db,
            sql: "SELECT sql FROM sqlite_schema WHERE name = ?",
            arguments: [standingIndex]
        )
        guard let definition else { throw StoreError.failed("the index \(standingIndex) is missing") }
        // No row can be changed that the index should have and has not.
        try db.execute(sql: "DROP INDEX \(standingIndex)")
        let others = try TaskRow.all(
            """
            WHERE id IN (SELECT id FROM (
              SELECT id, row_number() OVER (PARTITION BY unique_key ORDER BY id) AS place
              FROM task NOT INDEXED WHERE unique_key IS NOT NULL AND state <> 2) WHERE place > 1)
            """,
            [],
            db
        )
        for task in others {
            try db.execute(sql: "UPDATE task SET unique_key = NULL WHERE id = ?", arguments: [task.id])
        }
        try db.execute(sql: definition)
        var ledger = Ledger(now: now)
        for task in others { _ = try letWait(task, from: task.state, now: now, &ledger, db) }
        try ledger.post(db)
        return others.count
    }
}
