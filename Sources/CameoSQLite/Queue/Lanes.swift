package import CameoQueue
internal import CameoStore

// DESIGN. A lane has the waiting jobs of one queue, tenant and concurrency key, in the order of their ranks. A lane's head is
// its lowest rank, and a queue's that of its open lanes.
extension SQLiteTransaction {
    /// Lowers a lane's head to the rank of a job that has entered it.
    func lowerHead(ofLane lane: Int64, in queue: Int64, to rank: Int64) throws {
        let used = "CASE WHEN head IS NULL AND used IS NOT NULL THEN \(Share.beginning(at: "?3")) ELSE used END"
        let lower = "UPDATE lane SET used = \(used), head = ?1 WHERE id = ?2 AND (head IS NULL OR head > ?1)"
        if try execute(lower, [rank, lane, now]) == 1 { try lowerHead(ofQueue: queue, to: rank) }
    }

    private func lowerHead(ofQueue queue: Int64, to rank: Int64) throws {
        try execute("UPDATE queue SET head = ?1 WHERE id = ?2 AND (head IS NULL OR head > ?1)", [rank, queue])
    }

    /// Recomputes the heads of a lane and its queue.
    func settleHeads(ofLane lane: Int64, in queue: Int64) throws {
        try execute(
            """
            UPDATE lane SET head = (
              SELECT min(rank) FROM task INDEXED BY task_ready WHERE lane = ?1 AND \(TaskRow.isReady))
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
            if let head: Int64 = try row["head"] { try lowerHead(ofQueue: row["queue"], to: head) }
        }
    }

    package func settle(_ table: LimitedTable, _ id: Int64) throws {
        switch table {
        case .queue: try decide(queue: id)
        case .key: try decide(key: id)
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

// Ids and heads are read as they are: one that was cut would name no row, or be on the wrong side of a rank, and a claim
// would look for ever.

/// The next lane to claim from: the open lane of lowest rank in the open queue of lowest rank, or in a fair queue the one that
/// has had least. Background queues come after all others.
struct Front {
    let queue: OpenQueue
    let lane: Int64
    let key: Int64
    /// The lowest rank of another open lane or queue of the same kind; nil: there is no other.
    let bound: Int64?
    /// In a fair queue, what the lane has had, its tenant, and how many jobs it may have before it is another's turn.
    let share: (had: Share, tenant: Int64, isAlone: Bool, jobs: Int)?

    /// Whether claiming from here may close the queue or the lane.
    var isLimited: Bool { key != 0 || queue.hasRate || queue.room < Int32.max }

    /// The room is the number of further jobs that its limit allows.
    typealias OpenQueue = (
        id: Int64, name: String, head: Int64, room: Int, hasRate: Bool, isBackground: Bool, isFair: Bool
    )

    /// The first two claimable queues, by rank.
    static func openQueues(for request: ClaimRequest, _ db: SQLiteTransaction) throws -> [OpenQueue] {
        let kinds = request.backgroundJobs == .excluded ? " AND background = 0" : ""
        let open = "head IS NOT NULL AND paused = 0 AND opens_at = 0 AND full = 0\(kinds)"
        let columns = """
            SELECT id, name, head, coalesce(max_running
              - (SELECT running FROM queue_count WHERE queue = queue.id), \(Int32.max)) AS room,
              rate_count NOT NULL AS has_rate, background, fair
            FROM queue
            """
        let rows =
            if let wanted = request.queues {
                try db.query(
                    """
                    \(columns) WHERE name IN (SELECT value FROM json_each(?1)) AND \(open)
                    ORDER BY background, head, id LIMIT 2
                    """,
                    [wanted]
                )
            } else {
                try db.query("\(columns) INDEXED BY queue_open WHERE \(open) ORDER BY background, head LIMIT 2")
            }
        return try rows.map { row in
            try (
                row.number("id") ?? 0, row["name"], row.number("head") ?? .max, row["room"], row["has_rate"],
                row["background"], row["fair"]
            )
        }
    }

    /// Finds the next lane; nil if there is nothing to claim. Corrects heads that are too low.
    static func find(for request: ClaimRequest, _ db: SQLiteTransaction) throws -> Front? {
        while true {
            let queues = try openQueues(for: request, db)
            guard let queue = queues.first else { return nil }
            // Ranks of background queues and of others are not compared.
            let rivals = queues.dropFirst().filter { $0.isBackground == queue.isBackground }
            if queue.isFair {
                if let front = try fair(queue, beside: rivals.map(\.head).min(), db) { return front }
                continue
            }
            let lanes = try db.query(
                """
                SELECT id, key, head FROM lane INDEXED BY lane_open
                WHERE queue = ?1 AND head IS NOT NULL AND shut = 0 ORDER BY head LIMIT 2
                """,
                [queue.id]
            )
            let heads = try lanes.compactMap { try $0.number("head") }
            guard let lane = lanes.first, heads[0] <= queue.head || rivals.count + lanes.count == 1 else {
                try db.settleHead(ofQueue: queue.id)
                continue
            }
            let others = rivals.map(\.head) + heads.dropFirst()
            let id = try lane.number("id") ?? 0
            return try Front(queue: queue, lane: id, key: lane["key"], bound: others.min(), share: nil)
        }
    }

    /// The lane of a fair queue that has had least; nil if the queue's head was too low, and was corrected.
    private static func fair(_ queue: OpenQueue, beside rival: Int64?, _ db: SQLiteTransaction) throws -> Front? {
        let lanes = try db.query(
            """
            SELECT id, key, tenant, used, mean, \(Share.weight) AS weight, tenant = 0 OR NOT EXISTS (
                SELECT 1 FROM lane AS other INDEXED BY lane_place
                WHERE other.queue = lane.queue AND other.tenant = lane.tenant AND other.id <> lane.id) AS is_alone
            FROM lane INDEXED BY lane_fair
            WHERE queue = ?1 AND head IS NOT NULL AND shut = 0 AND used IS NOT NULL ORDER BY used, head LIMIT 2
            """,
            [queue.id]
        )
        guard let lane = lanes.first, let share = try Share(lane) else {
            // One without a share would be looked for again and again.
            try db.execute("\(Share.entering) AND queue = ?1", [queue.id])
            try db.settleHead(ofQueue: queue.id)
            return nil
        }
        if rival != nil, try !isFirst(queue, db) { return nil }
        let next: Double? = try lanes.dropFirst().first?["used"]
        // Beside another queue one at a time, because the order of queues follows their first jobs.
        let jobs = rival == nil ? share.jobs(before: next) : 1
        return try Front(
            queue: queue,
            lane: lane.number("id") ?? 0,
            key: lane["key"],
            bound: nil,
            share: (share, lane["tenant"], lane["is_alone"], jobs)
        )
    }

    /// Whether a queue's head is the rank of its first job; if not, corrects it and that of the job's lane. Of lanes that are not
    /// claimed from by their heads, nobody else corrects these.
    private static func isFirst(_ queue: OpenQueue, _ db: SQLiteTransaction) throws -> Bool {
        let look = """
            SELECT id, head, (SELECT min(rank) FROM task INDEXED BY task_ready WHERE lane = lane.id AND \(TaskRow.isReady)) AS first
            FROM lane INDEXED BY lane_open WHERE queue = ?1 AND head IS NOT NULL AND shut = 0 ORDER BY head LIMIT 1
            """
        let lane = try db.row(look, [queue.id])
        guard let lane, try lane.number("head") != lane.number("first") || lane.number("head") ?? .max > queue.head
        else {
            return true
        }
        try db.settleHeads(ofLane: lane.number("id") ?? 0, in: queue.id)
        return false
    }

    /// Settles the heads of lane and queue after a claim, and in a fair queue charges the lane for its jobs.
    func settle(charging jobs: Int, _ db: SQLiteTransaction) throws {
        guard let share else { return try db.settleHeads(ofLane: lane, in: queue.id) }
        // Added, because what others of the commit settled may have been written since the lane was found.
        try db.execute(
            """
            UPDATE lane SET used = \(Share.bounded("(used + ?2)")), head = (
              SELECT min(rank) FROM task INDEXED BY task_ready WHERE lane = ?1 AND \(TaskRow.isReady))
            WHERE id = ?1
            """,
            [lane, Double(jobs) * share.had.charge]
        )
        if !share.isAlone {
            let lanes = Share.lanes(queue: "?2", tenant: "?3")
            let own = "(SELECT used FROM lane AS own WHERE own.id = ?1)"
            try db.execute(
                "UPDATE lane SET used = \(own) WHERE id IN (\(lanes)) AND used < \(own)",
                [lane, queue.id, share.tenant]
            )
        }
        try db.execute(
            """
            UPDATE queue SET share_floor = max(share_floor, ?2), head = (
              SELECT min(head) FROM lane INDEXED BY lane_open WHERE queue = ?1 AND head IS NOT NULL AND shut = 0)
            WHERE id = ?1
            """,
            [queue.id, share.had.used]
        )
    }

    /// The number of jobs that the limits and rates of queue and key allow.
    func room(_ db: SQLiteTransaction) throws -> Int {
        let ofQueue = queue.hasRate ? min(queue.room, try db.freeStarts(.queue, queue.id)) : queue.room
        guard key != 0 else { return ofQueue }
        let left: Int? = try db.value("SELECT max_running - running FROM key WHERE id = ?1", [key])
        // A lane of no key is one that another program has changed, and has no limit: nothing would close it.
        let ofKey = min(left ?? .max, try db.freeStarts(.key, key))
        return max(0, min(ofQueue, ofKey))
    }

    /// Closes a queue or lane that is marked open but has no room, because a clock that was set back opened an empty
    /// bucket or another program changed a count.
    func close(_ db: SQLiteTransaction) throws {
        try db.spend(0, queue: queue.id, key: key)
        try db.decide(queue: queue.id)
        if key != 0 { try db.decide(key: key) }
        try db.settleHead(ofQueue: queue.id)
    }

    /// The first jobs of the lane, up to the bound.
    func tasks(atMost limit: Int, _ db: SQLiteTransaction) throws -> [TaskRow] {
        try db.tasks(
            """
            INDEXED BY task_ready WHERE lane = ? AND \(TaskRow.isReady) AND rank <= ?
            ORDER BY rank LIMIT ?
            """,
            [lane, bound ?? .max, limit]
        )
    }
}
