internal import CameoModel
package import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLTransaction {
    package func schemaVersion() -> Int { Schema.currentVersion }

    /// A worker is alive while its lease runs.
    package func isAlive(_ worker: String, leaseUntil: Int64) -> Bool { leaseUntil >= now }

    package func recentEnds(minutes: Int, isWorking: Bool) throws -> RecentEnds {
        var ends = RecentEnds(minutes: minutes)
        guard let last: Int64 = try value("SELECT max(last) FROM change"),
            let first = try firstChange(since: now - Int64(minutes) * 60_000, upTo: last)
        else { return ends }
        try ends.count(from: first, through: last, now: now, isWorking: isWorking) { picks, span in
            // One change of each of as many equal parts, at a place that the golden ratio scatters: claims and completions
            // alternate regularly, and equal steps might meet only one of them. All changes, if they are few.
            return try query(
                """
                SELECT state, sum(least(gap, \(RecentEnds.longestGap)))::bigint AS worked, max(at) AS latest,
                  -- Not the requests that needed no job.
                  count(*) FILTER (WHERE NOT EXISTS (
                    SELECT 1 FROM outcome WHERE id = job_id AND attempted_at IS NULL AND failure IS NULL)) AS jobs
                FROM (
                  SELECT state, job_id, at, at - lag(at, 1, at) OVER (ORDER BY seq) AS gap
                  FROM generate_series(0, $1::bigint - 1) AS n,
                    LATERAL (SELECT $2::bigint + trunc(
                      (n + (n * 2654435761 % 4294967296) / 4294967296.0) * $3::bigint / $1)::bigint AS seq) AS pick,
                    LATERAL (
                      SELECT jobs[place] AS job_id, states[place] AS state, at
                      FROM (SELECT *, seq - last + cardinality(jobs) AS place FROM change WHERE last >= seq ORDER BY last LIMIT 1)
                        AS changes) AS change) AS changes
                GROUP BY state
                """,
                [picks, first.seq, span]
            )
            .map { try RecentEnds.Sample($0) }
        }
        return ends
    }

    /// The first change at or after a time, found by bisection in one statement; nil if the last is earlier.
    private func firstChange(since time: Int64, upTo last: Int64) throws -> (seq: Int64, at: Int64)? {
        let first = try row(
            """
            WITH RECURSIVE step(low, high) AS (
              SELECT (SELECT last - cardinality(jobs) + 1 FROM change ORDER BY last LIMIT 1), $2::bigint
              UNION ALL
              SELECT CASE WHEN next.at >= $1 THEN low ELSE middle + 1 END, CASE WHEN next.at >= $1 THEN middle ELSE high END
              FROM step, LATERAL (SELECT (low + high) / 2 AS middle) AS half,
                LATERAL (SELECT at FROM change WHERE last >= middle ORDER BY last LIMIT 1) AS next
              WHERE low < high)
            SELECT low, at FROM step, LATERAL (SELECT at FROM change WHERE last >= low ORDER BY last LIMIT 1) AS found
            WHERE low = high AND at >= $1
            """,
            [time, last]
        )
        return try first.map { try ($0[0], $0[1]) }
    }
}

extension PostgreSQLStore {
    package func metrics() async throws(StoreError) -> StoreMetrics {
        try await read { db in
            let row = try db.row(
                """
                SELECT coalesce((SELECT sum(renderers) FROM worker WHERE lease_until >= $1), 0)::bigint,
                  coalesce((SELECT sum(pg_total_relation_size(oid)) FROM pg_class
                    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'S')), 0)::bigint
                """,
                [db.now]
            )
            guard let row else { throw StoreError.failed("the server gave no sizes") }
            return try StoreMetrics(counters: db.counters(), renderers: row[0], databaseBytes: row[1])
        }
    }
}
