internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// The rows of hooks that change together with their jobs.
enum Hooks {
    /// Records the hook that a job's request names, if any, and that of its queue.
    static func note(_ hook: String?, ofQueue queue: Int64, for job: Int64, _ db: Database) throws {
        try db.execute(
            """
            INSERT INTO job_hook(job_id, hook, named_by)
            SELECT $1, hook, $1 FROM (
              SELECT hook FROM queue WHERE id = $2 UNION SELECT $3::text) AS named
            WHERE hook IS NOT NULL ON CONFLICT DO NOTHING
            """,
            [job, queue, hook]
        )
    }

    /// Records the hook of a request that has joined a job.
    static func note(_ hook: String, for job: Int64, _ db: Database) throws {
        try db.execute(
            "INSERT INTO job_hook(job_id, hook, named_by) VALUES ($1, $2, $1) ON CONFLICT DO NOTHING",
            [job, hook]
        )
    }

    /// Adds the hooks of a superseded job to those of the job that supersedes it.
    static func inherit(from superseded: Int64, by job: Int64, _ db: Database) throws {
        try db.execute(
            """
            INSERT INTO job_hook(job_id, hook, named_by)
            SELECT $1, hook, named_by FROM job_hook WHERE job_id = $2 ON CONFLICT DO NOTHING
            """,
            [job, superseded]
        )
    }

    /// Enters a delivery of a job's end for each of its hooks, or for one of them.
    static func enter(_ job: Int64, only hook: String? = nil, _ end: End, _ db: Database) throws {
        try db.execute(
            """
            INSERT INTO delivery(job_id, hook, state, ended_at, failure, at, since)
            SELECT job_id, hook, $2::smallint, $3::bigint, $4::json, $3::bigint, $3::bigint
            FROM (SELECT DISTINCT job_id, hook FROM job_hook WHERE job_id = $1 AND ($5::text IS NULL OR hook = $5))
              AS named
            """,
            [job, end.state.code, db.now, try end.failure?.stored, hook]
        )
    }

    /// Makes a worker's claimed deliveries wait again.
    static func release(claimsOf worker: String, _ db: Database) throws {
        let count = try db.execute("UPDATE delivery SET status = 0, worker = NULL WHERE worker = $1", [worker])
        if count > 0 { db.ledger.wakesWorkers = true }
    }
}
