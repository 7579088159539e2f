package import CameoModel
package import CameoStore
internal import Foundation

/// The period in milliseconds over which a batch's rate is measured.
private let rateWindow: Int64 = 60_000

extension QueueTransaction {
    /// The batches that have jobs, newest first.
    package func batches(before cursor: Int64?, limit: Int) throws -> BatchPage {
        let rows = try query(
            """
            SELECT id, name FROM batch
            WHERE id < ?1 AND EXISTS (SELECT 1 FROM batch_job WHERE batch = batch.id) ORDER BY id DESC LIMIT ?2
            """,
            [cursor ?? .max, limit]
        )
        let reports = try rows.map { row in try batchReport(row["name"]) }
        return (batches: reports, next: rows.count == limit ? try rows.last?["id"] : nil)
    }

    /// - Throws: ``StoreError/noSuch(_:_:)``
    package func batchReport(_ name: String) throws -> BatchReport {
        let rows = try query(
            """
            SELECT coalesce(task.state, outcome.state) AS state, count(*) AS jobs, min(batch_job.job_id) AS oldest, code,
              -- Requests that needed no job do not count towards the rate.
              count(CASE WHEN finalized_at >= ?1 AND (outcome.attempted_at IS NOT NULL OR outcome.state <> 4) THEN 1 END)
                AS recent
            FROM batch JOIN batch_job ON batch_job.batch = batch.id
              LEFT JOIN task ON task.id = batch_job.job_id LEFT JOIN outcome ON outcome.id = batch_job.job_id
            WHERE batch.name = ?2 AND (task.id IS NOT NULL OR outcome.id IS NOT NULL) GROUP BY 1, 4
            """,
            [now - rateWindow, name]
        )
        var jobs: [JobState: Int] = [:]
        // Codes of a newer version are counted together as unknown.
        var failures: [JobFailure.Code: Int] = [:]
        let removed = try query(
            "SELECT state, code, jobs FROM batch JOIN batch_removed ON batch_removed.batch = batch.id WHERE name = ?1",
            [name]
        )
        for row in rows + removed {
            let (state, count) = try (JobState(code: row["state"]), row["jobs"] as Int)
            jobs[state, default: 0] += count
            if state == .discarded {
                failures[try (row["code"] as String?).flatMap(JobFailure.Code.init) ?? .unknown, default: 0] += count
            }
        }
        // Those that are not accepted yet.
        let arrived =
            try hasArrivals()
            ? query(
                """
                SELECT state, count(*) AS jobs, min(job_status.id) AS oldest FROM \(dialect.arrivals)
                WHERE job_status.batch = ?1 GROUP BY state
                """,
                [name]
            ) : []
        for row in arrived { jobs[try JobState(stored: row["state"]), default: 0] += try row["jobs"] }
        guard let oldest = try (rows + arrived).map({ try $0["oldest"] as Int64 }).min() else {
            throw StoreError.noSuch(.batch, name)
        }
        let begun: Int64? = try value("SELECT created_at FROM job WHERE id = ?1", [oldest])
        // A batch younger than the window has had less time.
        let since = max(now - rateWindow, begun ?? 0)
        let finished: Int = try rows.reduce(0) { $0 + (try $1["recent"]) }
        return BatchReport(
            name: name,
            generatedAt: Date(milliseconds: now),
            jobs: jobs,
            failures: failures.map { BatchReport.Failures(code: $0.key, count: $0.value) },
            finishedLastMinute: finished,
            rate: Double(finished) * 1_000 / Double(max(1, now - since))
        )
    }
}
