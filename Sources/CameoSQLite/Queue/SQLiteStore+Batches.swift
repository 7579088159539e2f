package import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    /// The period in milliseconds over which a batch's rate is measured.
    private static let rateWindow: Int64 = 60_000

    package func batch(_ name: String) async throws(StoreError) -> BatchReport {
        let now = clock.now()
        return try await read { db in try Self.batch(name, now: now, db) }
    }

    package func batches(before cursor: Int64?, limit: Int) async throws(StoreError) -> BatchPage {
        let now = clock.now()
        // Counting large batches takes long.
        return try await readApart { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, name FROM batch
                    WHERE id < ? AND EXISTS (SELECT 1 FROM batch_job WHERE batch = batch.id) ORDER BY id DESC LIMIT ?
                    """,
                arguments: [cursor ?? .max, limit]
            )
            return BatchPage(
                batches: try rows.map { try Self.batch($0[1], now: now, db) },
                next: rows.count == limit ? rows.last?[0] : nil
            )
        }
    }

    private static func batch(_ name: String, now: Date, _ db: Database) throws -> BatchReport {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT coalesce(task.state, outcome.state), count(*), min(batch_job.job_id), code,
                  -- Requests that needed no job do not count towards the rate.
                  total(finalized_at >= ? AND (outcome.attempted_at IS NOT NULL OR outcome.state <> 4))
                FROM batch JOIN batch_job ON batch_job.batch = batch.id
                  LEFT JOIN task ON task.id = batch_job.job_id LEFT JOIN outcome ON outcome.id = batch_job.job_id
                WHERE batch.name = ? GROUP BY 1, 4
                """,
            arguments: [now.milliseconds - rateWindow, name]
        )
        var jobs: [JobState: Int] = [:]
        // Codes of a newer version are counted together as unknown.
        var failures: [JobFailure.Code: Int] = [:]
        for row in rows {
            let (state, count) = (try JobState(code: row[0]), row[1] as Int)
            jobs[state, default: 0] += count
            if state == .discarded {
                failures[JobFailure.Code(rawValue: row[3]) ?? .unknown, default: 0] += count
            }
        }
        let arrivals = try arrivals(in: name, db)
        for (state, count) in arrivals.jobs { jobs[state, default: 0] += count }
        guard let oldest = (rows.map { $0[2] as Int64 } + [arrivals.oldest].compactMap { $0 }).min() else {
            throw StoreError.noSuch(.batch, name)
        }
        let begun = try Int64.fetchOne(db, sql: "SELECT created_at FROM job WHERE id = ?", arguments: [oldest])
        // A batch younger than the window has had less time.
        let since = max(now.milliseconds - rateWindow, begun ?? 0)
        let finished = rows.reduce(0) { $0 + Int($1[4] as Double) }
        let seconds = Double(max(1, now.milliseconds - since)) / 1_000
        return BatchReport(
            name: name,
            generatedAt: now,
            jobs: jobs,
            failures: failures.map { BatchReport.Failures(code: $0.key, count: $0.value) },
            finishedLastMinute: finished,
            rate: Double(finished) / seconds
        )
    }

    private static func arrivals(in batch: String, _ db: Database) throws -> (jobs: [JobState: Int], oldest: Int64?) {
        guard try hasArrivals(db) else { return ([:], nil) }
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT state, count(*), min(job_status.id) FROM job_status JOIN job ON job.id = job_status.id
                WHERE \(waitsForAcceptance) AND job_status.batch = ? GROUP BY state
                """,
            arguments: [batch]
        )
        return (
            Dictionary(uniqueKeysWithValues: try rows.map { (try JobState(stored: $0[0]), $0[1] as Int) }),
            rows.map { $0[2] as Int64 }.min()
        )
    }
}
