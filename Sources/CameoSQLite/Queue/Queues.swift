internal import GRDB

enum Queues {
    /// Records whether a queue has reached its limit. Most queues have no limit and are not written.
    static func decide(_ queue: Int64, _ db: SQLiteTransaction) throws {
        let decide = try db.cachedStatement(
            sql: """
                UPDATE queue SET full = 1 - full WHERE id = ?1
                  AND full <> coalesce((SELECT running FROM queue_count WHERE queue = ?1) >= max_running, 0)
                """
        )
        try decide.execute(arguments: [queue])
    }
}
