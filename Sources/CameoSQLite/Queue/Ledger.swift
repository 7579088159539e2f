internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import GRDB

extension SQLiteTransaction {
    /// Every commit wakes those who watch the log.
    package func wakeWorkers() {}

    package func isLimited(queue: Int64) -> Bool { false }

    /// Only one process writes at a time.
    package func holdNames() {}

    /// Writes what was recorded.
    func flush() throws {
        let ledger = ledger
        self.ledger = Ledger()
        for change in ledger.changes {
            try execute(
                "INSERT INTO change(job_id, state, at) VALUES (?1, ?2, ?3)",
                [change.job, change.state.code, now]
            )
        }
        for (key, change) in ledger.keys where change != 0 { try Keys.count(change, of: key, self) }
        for (queue, counts) in ledger.queues { try write(counts, of: queue) }
        try write(ledger.counters)
        for (lane, head) in ledger.heads { try Lanes.lower(lane, of: head.queue, to: head.rank, self) }
    }

    private func write(_ counts: Ledger.Counts, of queue: Int64) throws {
        guard counts.changes.contains(where: { $0 != 0 }) else { return }
        try execute(
            """
            UPDATE queue_count SET scheduled = scheduled + ?1, available = available + ?2, running = running + ?3,
              retryable = retryable + ?4, completed = completed + ?5, discarded = discarded + ?6,
              cancelled = cancelled + ?7, ever_completed = ever_completed + ?8, ever_discarded = ever_discarded + ?9,
              ever_cancelled = ever_cancelled + ?10
            WHERE queue = ?11
            """,
            counts.changes + counts.ends + [Int(queue)]
        )
        if counts.changes[JobState.running.code] != 0 { try Queues.decide(queue, self) }
    }

    private func write(_ counted: StoreCounters) throws {
        for (family, label, value) in counted.entries {
            try execute(
                """
                INSERT INTO counter(family, label, value) VALUES (?1, ?2, ?3)
                ON CONFLICT DO UPDATE SET value = value + excluded.value
                """,
                [family.rawValue, label, value]
            )
        }
    }
}

/// What a check finds wrong in the rows of hooks, and a repair corrects.
enum Hooks {
    static let withoutWorker = "SELECT seq FROM delivery WHERE status = 1 AND worker NOT IN (SELECT id FROM worker)"
    /// Unfinished jobs whose mark disagrees with their hooks.
    static let wronglyMarked = """
        SELECT id FROM task WHERE hooked <> EXISTS (SELECT 1 FROM job_hook WHERE job_id = task.id)
        """
    /// Ended jobs with a hook to which no end was ever entered.
    static let untold = """
        SELECT DISTINCT job_id FROM job_hook JOIN outcome ON outcome.id = job_id
        WHERE superseded_by IS NULL AND NOT EXISTS (
          SELECT 1 FROM delivery WHERE delivery.job_id = job_hook.job_id AND delivery.hook = job_hook.hook)
        """

    /// - Returns: the number of rows corrected.
    static func repair(_ db: SQLiteTransaction) throws -> Int {
        try [
            "UPDATE delivery SET status = 0, worker = NULL WHERE seq IN (\(withoutWorker))",
            "UPDATE task SET hooked = 1 - hooked WHERE id IN (\(wronglyMarked))",
            """
            INSERT INTO delivery(job_id, hook, state, ended_at, failure, at, since)
            SELECT DISTINCT outcome.id, hook, state, finalized_at, failure, \(db.now), \(db.now)
            FROM job_hook JOIN outcome ON outcome.id = job_id
            WHERE superseded_by IS NULL AND NOT EXISTS (
              SELECT 1 FROM delivery WHERE delivery.job_id = job_hook.job_id AND delivery.hook = job_hook.hook)
            """,
        ].reduce(0) { try $0 + db.execute($1) }
    }
}

extension SQLiteStore {
    static func hooks(_ db: SQLiteTransaction) throws -> CheckFinding {
        let deliveries = try Int64.fetchAll(db.sqlite, sql: Hooks.withoutWorker)
        let jobs =
            try Int64.fetchAll(db.sqlite, sql: Hooks.wronglyMarked) + Int64.fetchAll(db.sqlite, sql: Hooks.untold)
        return CheckFinding(
            "hooks",
            deliveries.map { "delivery \($0) runs for an unknown worker" }
                + jobs.map { "the end of job \($0) would not reach its hooks" },
            ok: "every end of a job reaches its hooks",
            advice: "Another program changed the tables; \(repairCommand) corrects the rows"
        )
    }
}
