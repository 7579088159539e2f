internal import GRDB

/// Jobs and attempts that disagree on what runs.
enum Attempts {
    /// Ids of jobs with an open attempt that is not the one that runs.
    static let withoutRun = """
        SELECT job_id FROM attempt WHERE outcome = 'running'
          AND claim_token NOT IN (SELECT claim_token FROM job WHERE state = 'running')
        """

    /// Ids of jobs that run without an open attempt, or for a worker that nobody knows.
    static let runWithout = """
        SELECT id FROM job WHERE state = 'running'
          AND (claim_token NOT IN (SELECT claim_token FROM attempt WHERE outcome = 'running')
            OR worker NOT IN (SELECT id FROM worker))
        """

    /// Lets the jobs wait again, uncharged, and closes the attempts.
    ///
    /// - Returns: how many jobs and attempts disagreed.
    static func reconcile(now: Int64, _ db: Database) throws -> Int {
        try db.execute(
            sql: """
                UPDATE job SET state = 'available', attempt = max(0, attempt - 1), claim_token = NULL, worker = NULL
                WHERE id IN (\(runWithout))
                """
        )
        let jobs = db.changesCount
        try db.execute(
            sql: """
                UPDATE attempt SET outcome = 'interrupted', finished_at = ? WHERE outcome = 'running'
                  AND claim_token NOT IN (SELECT claim_token FROM job WHERE state = 'running')
                """,
            arguments: [now]
        )
        return max(jobs, db.changesCount)
    }
}
