internal import CameoModel
package import CameoQueue
package import CameoStore
internal import Foundation

// What only this engine knows of a status.
extension SQLiteTransaction {
    package func schemaVersion() throws -> Int { try Schema.version(of: sqlite, at: directory.path) }

    package func isAlive(_ worker: String, leaseUntil: Int64) throws -> Bool {
        try WorkerRegistration.isAlive(worker, in: directory)
    }

    package func recentEnds(minutes: Int, isWorking: Bool) throws -> RecentEnds {
        var ends = RecentEnds(minutes: minutes)
        // Separately, because SQLite answers only a lone min or max from the end of an index.
        let bounds = try row("SELECT (SELECT min(seq) FROM change) AS first, (SELECT max(seq) FROM change) AS last")
        guard let oldest: Int64 = try bounds?["first"], let last: Int64 = try bounds?["last"],
            let first = try firstChange(since: now - Int64(minutes) * 60_000, in: oldest...last)
        else { return ends }
        try ends.count(from: first, through: last, now: now, isWorking: isWorking) { picks, span in
            // One change of each of as many equal parts, at a place that the golden ratio scatters: claims and
            // completions alternate regularly, and equal steps might meet only one of them. All changes, if they are few.
            try query(
                """
                WITH RECURSIVE pick(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM pick WHERE n + 1 < ?1)
                SELECT state, sum(min(gap, \(RecentEnds.longestGap))) AS worked, max(at) AS latest,
                  -- Not the requests that needed no job.
                  count(CASE WHEN NOT EXISTS (SELECT 1 FROM outcome
                    WHERE id = job_id AND attempted_at IS NULL AND failure IS NULL) THEN 1 END) AS jobs
                FROM (
                  SELECT state, job_id, at, at - lag(at, 1, at) OVER (ORDER BY seq) AS gap
                  FROM pick JOIN change ON seq = ?2 + CAST(
                    (n + (n * 2654435761 % 4294967296) / 4294967296.0) * ?3 / ?1 AS INTEGER))
                GROUP BY state
                """,
                [picks, first.seq, span]
            )
            .map { try RecentEnds.Sample($0) }
        }
        return ends
    }

    /// The first change at or after a time, found by bisection: the times of the feed grow with its numbers.
    private func firstChange(
        since time: Int64,
        in numbers: ClosedRange<Int64>
    ) throws -> (seq: Int64, at: Int64)? {
        func at(_ seq: Int64) throws -> Int64 {
            try value("SELECT at FROM change WHERE seq >= ?1 ORDER BY seq LIMIT 1", [seq]) ?? .max
        }
        guard try at(numbers.upperBound) >= time else { return nil }
        var (low, high) = (numbers.lowerBound, numbers.upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if try at(middle) >= time { high = middle } else { low = middle + 1 }
        }
        return (low, try at(low))
    }
}

extension SQLiteStore {
    package func metrics() async throws(StoreError) -> StoreMetrics {
        let directory = directory
        return try await read { db in
            let workers = try db.query("SELECT id, renderers FROM worker WHERE renderers > 0")
                .filter { try WorkerRegistration.isAlive($0[0], in: directory) }
            return StoreMetrics(
                counters: try db.counters(),
                renderers: try workers.reduce(0) { $0 + (try $1[1]) },
                databaseBytes: try db.databaseSize().bytes
            )
        }
    }
}
