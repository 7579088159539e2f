package import CameoModel
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    /// The period in milliseconds over which a batch's rate is measured.
    private static let rateWindow: Int64 = 60_000

    package func batch(_ name: String) async throws(StoreError) -> BatchReport {
        try await read { db in try Self.batch(name, now: db.now, db) }
    }

    package func batches(before cursor: Int64?, limit: Int) async throws(StoreError) -> BatchPage {
        try await read { db in
            let now = db.now
            let rows = try db.query(
                """
                SELECT id, name FROM batch
                WHERE id < $1 AND EXISTS (SELECT 1 FROM batch_job WHERE batch = batch.id) ORDER BY id DESC LIMIT $2
                """,
                [cursor ?? .max, limit]
            )
            return BatchPage(
                batches: try rows.map { try Self.batch(try $0[1], now: now, db) },
                next: rows.count == limit ? try rows.last?[0] : nil
            )
        }
    }

    private static func batch(_ name: String, now: Int64, _ db: Database) throws -> BatchReport {
        let rows = try db.query(
            """
            SELECT coalesce(task.state, outcome.state), count(*), min(batch_job.job_id), code,
              -- Requests that needed no job do not count towards the rate.
              count(*) FILTER (
                WHERE finalized_at >= $1 AND (outcome.attempted_at IS NOT NULL OR outcome.state <> 4))
            FROM batch JOIN batch_job ON batch_job.batch = batch.id
              LEFT JOIN task ON task.id = batch_job.job_id LEFT JOIN outcome ON outcome.id = batch_job.job_id
            WHERE batch.name = $2 AND (task.id IS NOT NULL OR outcome.id IS NOT NULL) GROUP BY 1, 4
            """,
            [now - rateWindow, name]
        )
        var jobs: [JobState: Int] = [:]
        // Codes of a newer version are counted together as unknown.
        var failures: [JobFailure.Code: Int] = [:]
        for row in rows {
            let (state, count) = try (JobState(code: row[0]), row[1] as Int)
            jobs[state, default: 0] += count
            if state == .discarded {
                failures[try (row[3] as String?).flatMap(JobFailure.Code.init) ?? .unknown, default: 0] += count
            }
        }
        let arrivals = try arrivals(in: name, db)
        for (state, count) in arrivals.jobs { jobs[state, default: 0] += count }
        guard let oldest = try (rows.map { try $0[2] as Int64 } + [arrivals.oldest].compactMap { $0 }).min() else {
            throw StoreError.noSuch(.batch, name)
        }
        let begun: Int64? = try db.value("SELECT created_at FROM job WHERE id = $1", [oldest])
        // A batch younger than the window has had less time.
        let since = max(now - rateWindow, begun ?? 0)
        let finished = try rows.reduce(0) { $0 + (try $1[4]) }
        return BatchReport(
            name: name,
            generatedAt: Date(milliseconds: now),
            jobs: jobs,
            failures: failures.map { BatchReport.Failures(code: $0.key, count: $0.value) },
            finishedLastMinute: finished,
            rate: Double(finished) * 1_000 / Double(max(1, now - since))
        )
    }

    /// The unaccepted jobs of a batch.
    private static func arrivals(in batch: String, _ db: Database) throws -> (jobs: [JobState: Int], oldest: Int64?) {
        let rows = try db.query(
            """
            SELECT state, count(*), min(job_status.id) FROM arrival JOIN job_status ON job_status.id = arrival.id
            WHERE job_status.batch = $1 GROUP BY state
            """,
            [batch]
        )
        return (
            Dictionary(uniqueKeysWithValues: try rows.map { try (JobState(stored: $0[0]), $0[1]) }),
            try rows.map { try $0[2] as Int64 }.min()
        )
    }
}
