package import CameoModel
package import CameoQueue
package import CameoStore

extension SQLiteTransaction {
    package func changes(since cursor: Int64, limit: Int) throws -> [JobChange] {
        // The names of batches have no line feeds.
        try query(
            """
            SELECT seq, job_id, state, at,
              (SELECT name FROM queue WHERE id = coalesce(
                (SELECT queue FROM accepted WHERE accepted.id = job_id),
                (SELECT queue FROM outcome WHERE outcome.id = job_id))) AS queue,
              (SELECT group_concat(name, char(10)) FROM batch_job INDEXED BY batch_job_id
                JOIN batch ON batch.id = batch_job.batch WHERE batch_job.job_id = change.job_id) AS batches
            FROM change WHERE seq > ?1 ORDER BY seq LIMIT ?2
            """,
            [cursor, limit]
        )
        .map { try JobChange($0) }
    }

    package func lastChange() throws -> Int64 { try value("SELECT max(seq) FROM change") ?? 0 }

    /// Like a take: a claim is in its row alone.
    package func task(of claim: Claim) throws -> TaskRow { try take(claim) }

    package func rename(_ claim: Claim, to key: String?) throws {
        try execute("UPDATE task SET unique_key = ?1 WHERE id = ?2", [key, claim.jobID])
    }

    /// Only one process writes at a time.
    package func lock(_ receipt: FirstReceipt) {}
}
