internal import CameoStore

/// The rows of hooks that change together with their jobs.
package enum JobHooks {
    /// Records the hook that a job's request names, if any, and that of its queue.
    package static func note(
        _ hook: String?,
        ofQueue queue: Int64,
        for job: Int64,
        _ db: some QueueTransaction
    ) throws {
        try db.execute(
            """
            INSERT INTO job_hook(job_id, hook, named_by)
            SELECT ?1, hook, ?1 FROM (
              SELECT hook FROM queue WHERE id = ?2 UNION SELECT CAST(?3 AS text)) AS named
            WHERE hook IS NOT NULL ON CONFLICT DO NOTHING
            """,
            [job, queue, hook]
        )
    }

    /// Records the hook of a request that has joined a job.
    package static func note(_ hook: String, for job: Int64, _ db: some QueueTransaction) throws {
        try db.execute(
            "INSERT INTO job_hook(job_id, hook, named_by) VALUES (?1, ?2, ?1) ON CONFLICT DO NOTHING",
            [job, hook]
        )
    }

    /// Adds the hooks of a superseded job to those of the job that supersedes it.
    static func inherit(from superseded: Int64, by job: Int64, _ db: some QueueTransaction) throws {
        try db.execute(
            """
            INSERT INTO job_hook(job_id, hook, named_by)
            SELECT ?1, hook, named_by FROM job_hook WHERE job_id = ?2 ON CONFLICT DO NOTHING
            """,
            [job, superseded]
        )
    }

    /// Enters a delivery of a job's end for each of its hooks, or for one of them.
    package static func enter(
        _ job: Int64,
        only hook: String? = nil,
        _ end: End,
        _ db: some QueueTransaction
    ) throws {
        try db.execute(
            """
            INSERT INTO delivery(job_id, hook, state, ended_at, failure, at, since)
            SELECT job_id, hook, CAST(?2 AS smallint), CAST(?3 AS bigint), \(db.dialect.json("?4")),
              CAST(?3 AS bigint), CAST(?3 AS bigint)
            FROM (SELECT DISTINCT job_id, hook FROM job_hook
              WHERE job_id = ?1 AND (CAST(?5 AS text) IS NULL OR hook = ?5)) AS named
            """,
            [job, end.state.code, db.now, try end.failure?.stored, hook]
        )
    }

    /// Makes a worker's claimed deliveries wait again.
    package static func release(claimsOf worker: String, _ db: some QueueTransaction) throws {
        let count = try db.execute(
            """
            UPDATE delivery \(db.dialect.indexed(by: "delivery_worker")) SET status = 0, worker = NULL
            WHERE worker = ?1 AND worker IS NOT NULL
            """,
            [worker]
        )
        if count > 0 { db.wakeWorkers() }
    }
}
