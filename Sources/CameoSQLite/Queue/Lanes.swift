internal import CameoQueue
internal import CameoStore

/// Lanes: the waiting jobs of one queue and concurrency key, in the order of their ranks. A lane's head is its lowest
/// rank.
enum Lanes {
    /// Lowers a lane's head to the rank of a job that has entered it.
    static func lower(_ lane: Int64, of queue: Int64, to rank: Int64, _ db: SQLiteTransaction) throws {
        let lower = "UPDATE lane SET head = ?1 WHERE id = ?2 AND (head IS NULL OR head > ?1)"
        if try db.execute(lower, [rank, lane]) == 1 { try self.lower(queue: queue, to: rank, db) }
    }

    static func lower(queue: Int64, to rank: Int64, _ db: SQLiteTransaction) throws {
        try db.execute("UPDATE queue SET head = ?1 WHERE id = ?2 AND (head IS NULL OR head > ?1)", [rank, queue])
    }

    /// Recomputes the heads of a lane and its queue.
    static func settleHeads(of lane: Int64, in queue: Int64, _ db: SQLiteTransaction) throws {
        try db.execute(
            """
            UPDATE lane SET head = (
              SELECT min(rank) FROM task INDEXED BY task_ready WHERE lane = ?1 AND state = 1 AND crash_count < 3)
            WHERE id = ?1
            """,
            [lane]
        )
        try settleHead(ofQueue: queue, db)
    }

    static func settleHead(ofQueue queue: Int64, _ db: SQLiteTransaction) throws {
        try db.execute(
            """
            UPDATE queue SET head = (
              SELECT min(head) FROM lane INDEXED BY lane_open WHERE queue = ?1 AND head IS NOT NULL AND shut = 0)
            WHERE id = ?1
            """,
            [queue]
        )
    }

    /// Opens or closes the lanes of a key.
    static func set(shut: Bool, key: Int64, _ db: SQLiteTransaction) throws {
        let rows = try db.query(
            """
            UPDATE lane INDEXED BY lane_key SET shut = ?1 WHERE key = ?2 AND key <> 0 AND shut <> ?1
            RETURNING queue, head
            """,
            [shut, key]
        )
        // The next claim corrects the head of a queue whose first lane was closed.
        for row in rows where !shut {
            if let head: Int64 = try row[1] { try lower(queue: row[0], to: head, db) }
        }
    }
}

enum Queues {
    /// Records whether a queue has reached its limit. Most queues have no limit and are not written.
    static func decide(_ queue: Int64, _ db: SQLiteTransaction) throws {
        try db.execute(
            """
            UPDATE queue SET full = 1 - full WHERE id = ?1
              AND full <> coalesce((SELECT running FROM queue_count WHERE queue = ?1) >= max_running, 0)
            """,
            [queue]
        )
    }
}

enum Keys {
    static func count(_ change: Int, of key: Int64, _ db: SQLiteTransaction) throws {
        try db.execute("UPDATE key SET running = running + ?1 WHERE id = ?2", [change, key])
        try decide(key, db)
    }

    /// Opens the key's lanes if it has room, otherwise closes them.
    static func decide(_ key: Int64, _ db: SQLiteTransaction) throws {
        let look = "SELECT running >= max_running OR opens_at <> 0 FROM key WHERE id = ?1"
        if let isFull: Bool = try db.value(look, [key]) { try Lanes.set(shut: isFull, key: key, db) }
    }
}

enum Rates {
    /// Takes starts from the buckets of a queue and a key (0: none), and closes those that are then empty.
    static func spend(_ count: Int, queue: Int64, key: Int64, _ db: SQLiteTransaction) throws {
        try db.spend(count, .queue, queue)
        if key != 0, try db.spend(count, .key, key) { try Keys.decide(key, db) }
    }

    /// Whether ``open(_:)`` would open anything.
    static func mayOpen(_ db: SQLiteTransaction) throws -> Bool {
        try db.value("SELECT \(db.dialect.mayOpen(at: "?1"))", [db.now]) ?? false
    }

    static func open(_ db: SQLiteTransaction) throws {
        let isDue = db.dialect.isOpeningDue(at: "?1")
        try db.execute("UPDATE queue INDEXED BY queue_opening SET opens_at = 0 WHERE \(isDue)", [db.now])
        let keys: [Int64] = try db.column(
            "UPDATE key INDEXED BY key_opening SET opens_at = 0 WHERE \(isDue) RETURNING id",
            [db.now]
        )
        for key in keys { try Keys.decide(key, db) }
    }
}
