internal import CameoModel
internal import CameoStore
internal import GRDB

/// The rows of hooks that change together with their jobs.
enum Hooks {
    /// Records the hook that a job's request names, if any, and that of its queue.
    static func note(_ hook: String?, ofQueue queue: Int64, for job: Int64, _ db: SQLiteTransaction) throws {
        let note = try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO job_hook(job_id, hook, named_by)
                SELECT ?1, hook, ?1 FROM queue WHERE id = ?2 AND hook IS NOT NULL
                UNION SELECT ?1, ?3, ?1 WHERE ?3 IS NOT NULL
                """
        )
        try note.execute(arguments: [job, queue, hook])
    }

    /// Records the hook of a request that has joined a job.
    static func note(_ hook: String, for job: Int64, _ db: SQLiteTransaction) throws {
        let note = try db.cachedStatement(
            sql: "INSERT OR IGNORE INTO job_hook(job_id, hook, named_by) VALUES (?1, ?2, ?1)"
        )
        try note.execute(arguments: [job, hook])
    }

    /// Adds the hooks of a superseded job to those of the job that supersedes it.
    static func inherit(from superseded: Int64, by job: Int64, _ db: SQLiteTransaction) throws {
        let inherit = try db.cachedStatement(
            sql: """
                INSERT OR IGNORE INTO job_hook(job_id, hook, named_by)
                SELECT ?, hook, named_by FROM job_hook WHERE job_id = ?
                """
        )
        try inherit.execute(arguments: [job, superseded])
    }

    /// Enters a delivery of a job's end for each of its hooks, or for one of them.
    static func enter(_ job: Int64, only hook: String? = nil, _ end: End, _ db: SQLiteTransaction) throws {
        let enter = try db.cachedStatement(
            sql: """
                INSERT INTO delivery(job_id, hook, state, ended_at, failure, at, since)
                SELECT DISTINCT job_id, hook, ?2, ?3, ?4, ?3, ?3 FROM job_hook
                WHERE job_id = ?1 AND (?5 IS NULL OR hook = ?5)
                """
        )
        try enter.execute(arguments: [job, end.state.code, db.now, try end.failure?.stored, hook])
    }

    /// Makes a worker's claimed deliveries wait again.
    static func release(claimsOf worker: String, _ db: SQLiteTransaction) throws {
        let release = try db.cachedStatement(
            sql: """
                UPDATE delivery INDEXED BY delivery_worker SET status = 0, worker = NULL
                WHERE worker = ? AND worker IS NOT NULL
                """
        )
        try release.execute(arguments: [worker])
    }

    // MARK: - Check and repair

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
        ].reduce(0) { count, statement in
            try db.execute(sql: statement)
            return count + db.changesCount
        }
    }
}

extension SQLiteStore {
    static func hooks(_ db: SQLiteTransaction) throws -> CheckFinding {
        let deliveries = try Int64.fetchAll(db.sqlite, sql: Hooks.withoutWorker)
        let jobs = try Int64.fetchAll(db.sqlite, sql: Hooks.wronglyMarked) + Int64.fetchAll(db.sqlite, sql: Hooks.untold)
        return CheckFinding(
            "hooks",
            deliveries.map { "delivery \($0) runs for an unknown worker" }
                + jobs.map { "the end of job \($0) would not reach its hooks" },
            ok: "every end of a job reaches its hooks",
            advice: "Another program changed the tables; \(repairCommand) corrects the rows"
        )
    }
}
