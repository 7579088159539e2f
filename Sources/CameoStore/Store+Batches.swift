package import CameoModel
internal import Foundation
internal import GRDB

extension Store {
    /// Milliseconds over which a batch's rate is taken.
    private static let rateWindow: Int64 = 60_000

    /// How far a batch is: the jobs that its requests made or joined. Reads a row for each of them.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)``
    package func batch(_ name: String) async throws(StoreError) -> BatchReport {
        let now = clock.now()
        return try await read { db in
            let states = try Row.fetchAll(
                db,
                sql: """
                    SELECT job.state AS state, count(*) AS count, min(job.id) AS oldest
                    FROM batch_job JOIN job ON job.id = batch_job.job_id WHERE batch_job.batch = ? GROUP BY job.state
                    """,
                arguments: [name]
            )
            guard let oldest = (states.map { $0["oldest"] as Int64 }).min() else {
                throw StoreError.noSuch(.batch, name)
            }
            let begun = try Int64.fetchOne(db, sql: "SELECT created_at FROM job WHERE id = ?", arguments: [oldest])
            // A batch that is younger than the window has had less time than that.
            let since = max(now.milliseconds - Self.rateWindow, begun ?? 0)
            let finished = try Int.fetchOne(
                db,
                sql: """
                    -- What was done when it was asked for says nothing of the pace.
                    SELECT count(*) FROM job INDEXED BY job_finalized
                    WHERE finalized_at IS NOT NULL AND finalized_at >= ? AND finalized_at > created_at
                      AND EXISTS (SELECT 1 FROM batch_job WHERE batch = ? AND job_id = job.id)
                    """,
                arguments: [since, name]
            )
            let seconds = Double(max(1, now.milliseconds - since)) / 1_000
            return BatchReport(
                name: name,
                generatedAt: now,
                jobs: Dictionary(
                    uniqueKeysWithValues: try states.map { (try JobState(stored: $0["state"]), $0["count"] as Int) }
                ),
                failures: try Self.failures(of: name, db),
                finishedLastMinute: finished ?? 0,
                rate: Double(finished ?? 0) / seconds
            )
        }
    }

    private static func failures(of batch: String, _ db: Database) throws -> [BatchReport.Failures] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT json_extract(failure, '$.code') AS code, count(*) AS count
                FROM batch_job JOIN job ON job.id = batch_job.job_id
                WHERE batch_job.batch = ? AND job.state = 'discarded' GROUP BY 1
                """,
            arguments: [batch]
        )
        // Codes of a newer version come together under one word.
        let counts = rows.reduce(into: [JobFailure.Code: Int]()) { counts, row in
            counts[JobFailure.Code(rawValue: row["code"]) ?? .unknown, default: 0] += row["count"] as Int
        }
        return counts.map { BatchReport.Failures(code: $0.key, count: $0.value) }
    }
}
