internal import CameoQueue
internal import CameoStore

// DESIGN. A lane has the waiting jobs of one queue and concurrency key, in the order of their ranks. A lane's head is its
// lowest rank, and a queue's that of its open lanes.
extension SQLiteTransaction {
    /// Lowers a lane's head to the rank of a job that has entered it.
    func lowerHead(ofLane lane: Int64, in queue: Int64, to rank: Int64) throws {
        let lower = "UPDATE lane SET head = ?1 WHERE id = ?2 AND (head IS NULL OR head > ?1)"
        if try execute(lower, [rank, lane]) == 1 { try lowerHead(ofQueue: queue, to: rank) }
    }

    private func lowerHead(ofQueue queue: Int64, to rank: Int64) throws {
        try execute("UPDATE queue SET head = ?1 WHERE id = ?2 AND (head IS NULL OR head > ?1)", [rank, queue])
    }

    /// Recomputes the heads of a lane and its queue.
    func settleHeads(ofLane lane: Int64, in queue: Int64) throws {
        try execute(
            """
            UPDATE lane SET head = (
              SELECT min(rank) FROM task INDEXED BY task_ready WHERE lane = ?1 AND state = 1 AND crash_count < 3)
            WHERE id = ?1
            """,
            [lane]
        )
        try settleHead(ofQueue: queue)
    }

    func settleHead(ofQueue queue: Int64) throws {
        try execute(
            """
            UPDATE queue SET head = (
              SELECT min(head) FROM lane INDEXED BY lane_open WHERE queue = ?1 AND head IS NOT NULL AND shut = 0)
            WHERE id = ?1
            """,
            [queue]
        )
    }

    /// Records whether a queue has reached its limit. Most queues have no limit and are not written.
    func decide(queue: Int64) throws {
        try execute(
            """
            UPDATE queue SET full = 1 - full WHERE id = ?1
              AND full <> coalesce((SELECT running FROM queue_count WHERE queue = ?1) >= max_running, 0)
            """,
            [queue]
        )
    }

    /// Opens the lanes of a key if it has room, otherwise closes them.
    func decide(key: Int64) throws {
        let look = "SELECT running >= max_running OR opens_at <> 0 FROM key WHERE id = ?1"
        guard let isFull: Bool = try value(look, [key]) else { return }
        let rows = try query(
            """
            UPDATE lane INDEXED BY lane_key SET shut = ?1 WHERE key = ?2 AND key <> 0 AND shut <> ?1
            RETURNING queue, head
            """,
            [isFull, key]
        )
        // The next claim corrects the head of a queue whose first lane was closed.
        for row in rows where !isFull {
            if let head: Int64 = try row[1] { try lowerHead(ofQueue: row[0], to: head) }
        }
    }

    /// Takes starts from the buckets of a queue and a key (0: none), and closes those that are then empty.
    func spend(_ count: Int, queue: Int64, key: Int64) throws {
        try spend(count, .queue, queue)
        if key != 0, try spend(count, .key, key) { try decide(key: key) }
    }

    /// Opens queues and keys whose rates allow that.
    func openRates() throws {
        let isDue = dialect.isOpeningDue(at: "?1")
        try execute("UPDATE queue INDEXED BY queue_opening SET opens_at = 0 WHERE \(isDue)", [now])
        let keys: [Int64] = try column(
            "UPDATE key INDEXED BY key_opening SET opens_at = 0 WHERE \(isDue) RETURNING id",
            [now]
        )
        for key in keys { try decide(key: key) }
    }
}
