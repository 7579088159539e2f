internal import CameoModel
internal import CameoStore
internal import GRDB

// DESIGN. An index that lacks rows of its table, or has rows that do not exist, gives wrong answers and blocks every
// change of such a row (SQLITE_CORRUPT_INDEX). It can be rebuilt from its table. Each rebuild has its own transaction,
// so that others wait for only one at a time. If pages of tables are damaged, nothing is rebuilt, because a rebuild
// reads them.
extension SQLiteStore {
    /// - Returns: the names of the rebuilt indexes, and the number of jobs superseded by others with the same key.
    func rebuildIndexes() async throws(StoreError) -> (indexes: [String], jobs: Int) {
        let damaged = try await read { db in
            try IntegrityFault.rebuildableIndexes(db)
        }
        var rebuilt: [String] = []
        for index in damaged.subtracting([Self.uniqueIndex]).sorted() {
            do throws(StoreError) {
                let isRebuilt = try await commit { db in try Self.rebuild(index, db) }
                if isRebuilt { rebuilt.append(index) }
            } catch {
                // Rows that should be unique are not; the check that follows reports them.
                guard case .refused = error else { throw error }
            }
        }
        guard damaged.contains(Self.uniqueIndex) else { return (rebuilt, 0) }
        // Last, because it changes rows that other indexes cover.
        let now = nowMilliseconds
        let superseded = try await commit { db in try Self.rebuildUniqueIndex(now: now, db) }
        return (rebuilt + [Self.uniqueIndex], superseded)
    }

    /// - Returns: false if the index no longer exists.
    private static func rebuild(_ index: String, _ db: Database) throws -> Bool {
        // Unlike REINDEX, a query makes SQLite reread the schema if another program has changed it.
        let isThere = try Bool.fetchOne(
            db,
            sql: "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?)",
            arguments: [index]
        )
        guard isThere == true else { return false }
        try db.execute(sql: "REINDEX \(index.sqlIdentifier)")
        return true
    }

    /// While the index was damaged, several jobs with one key may have been waiting. The first is kept, and it
    /// supersedes the others, as it would have before.
    ///
    /// - Returns: the number of superseded jobs.
    private static func rebuildUniqueIndex(now: Int64, _ db: Database) throws -> Int {
        let definition = try String.fetchOne(
            db,
            sql: "SELECT sql FROM sqlite_schema WHERE name = ?",
            arguments: [uniqueIndex]
        )
        guard let definition else { throw StoreError.failed("the index \(uniqueIndex) is missing") }
        // A row that is missing from the index cannot be changed.
        try db.execute(sql: "DROP INDEX \(uniqueIndex)")
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
