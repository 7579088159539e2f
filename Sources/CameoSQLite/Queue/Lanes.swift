internal import CameoStore
internal import GRDB

/// Lanes: the waiting jobs of one queue and concurrency key, in the order of their ranks. A lane's head is its lowest
/// rank.
enum Lanes {
    /// Finds or creates a lane.
    static func id(queue: Int64, key: Int64, _ db: SQLiteTransaction) throws -> Int64 {
        let find = try db.cachedStatement(sql: "SELECT id FROM lane WHERE queue = ? AND key = ?")
        if let id = try Int64.fetchOne(find, arguments: [queue, key]) { return id }
        let insert = try db.cachedStatement(
            sql: """
                INSERT INTO lane(queue, key, shut) VALUES (?1, ?2, coalesce(
                  (SELECT running >= max_running OR opens_at <> 0 FROM key WHERE id = ?2), 0))
                """
        )
        try insert.execute(arguments: [queue, key])
        return db.lastInsertedRowID
    }

    /// Lowers a lane's head to the rank of a job that has entered it.
    static func lower(_ lane: Int64, of queue: Int64, to rank: Int64, _ db: SQLiteTransaction) throws {
        let update = try db.cachedStatement(
            sql: "UPDATE lane SET head = ?1 WHERE id = ?2 AND (head IS NULL OR head > ?1)"
        )
        try update.execute(arguments: [rank, lane])
        if db.changesCount == 1 { try lower(queue: queue, to: rank, db) }
    }

    static func lower(queue: Int64, to rank: Int64, _ db: SQLiteTransaction) throws {
        let update = try db.cachedStatement(
            sql: "UPDATE queue SET head = ?1 WHERE id = ?2 AND (head IS NULL OR head > ?1)"
        )
        try update.execute(arguments: [rank, queue])
    }

    /// Recomputes the heads of a lane and its queue.
    static func settleHeads(of lane: Int64, in queue: Int64, _ db: SQLiteTransaction) throws {
        let settle = try db.cachedStatement(
            sql: """
                UPDATE lane SET head = (
                  SELECT min(rank) FROM task INDEXED BY task_ready WHERE lane = ?1 AND state = 1 AND crash_count < 3)
                WHERE id = ?1
                """
        )
        try settle.execute(arguments: [lane])
        try settleHead(ofQueue: queue, db)
    }

    static func settleHead(ofQueue queue: Int64, _ db: SQLiteTransaction) throws {
        let settle = try db.cachedStatement(
            sql: """
                UPDATE queue SET head = (
                  SELECT min(head) FROM lane INDEXED BY lane_open WHERE queue = ?1 AND head IS NOT NULL AND shut = 0)
                WHERE id = ?1
                """
        )
        try settle.execute(arguments: [queue])
    }

    /// Opens or closes the lanes of a key.
    static func set(shut: Bool, key: Int64, _ db: SQLiteTransaction) throws {
        let set = try db.cachedStatement(
            sql: """
                UPDATE lane INDEXED BY lane_key SET shut = ?1 WHERE key = ?2 AND key <> 0 AND shut <> ?1
                RETURNING queue, head
                """
        )
        // The next claim corrects the head of a queue whose first lane was closed.
        for row in try Row.fetchAll(set, arguments: [shut, key]) where !shut {
            if let head = row[1] as Int64? { try lower(queue: row[0], to: head, db) }
        }
    }
}
