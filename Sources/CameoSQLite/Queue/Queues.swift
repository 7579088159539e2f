internal import GRDB

enum Queues {
    /// Notes whether as many of a queue's jobs run as may. Most queues have no limit, and are not written to.
    static func decide(_ queue: Int64, _ db: Database) throws {
        let decide = try db.cachedStatement(
            sql: """
                UPDATE queue SET full = 1 - full WHERE id = ?1
                  AND full <> coalesce((SELECT running FROM queue_count WHERE queue = ?1) >= max_running, 0)
                """
        )
        try decide.execute(arguments: [queue])
    }
}
