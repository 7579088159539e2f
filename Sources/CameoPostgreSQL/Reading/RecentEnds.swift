internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// The jobs that ended in the last minutes.
struct RecentEnds {
    /// The most changes of a period that are all counted: they are neighbours on a few pages.
    private static let counted: Int64 = 3_000
    /// The samples of more changes, each on a page of its own. A third of a busy store's changes are ends of jobs, so that
    /// their estimate has a standard error of 6 %.
    private static let samples: Int64 = 500

    let minutes: Int
    private(set) var completed = 0
    private(set) var discarded = 0
    /// From its first change until now: a worker that has just begun has had less time.
    private(set) var seconds = 1.0

    init(minutes: Int, now: Int64, _ db: Database) throws {
        self.minutes = minutes
        guard let last: Int64 = try db.value("SELECT max(last) FROM change"),
            let first = try Self.first(since: now - Int64(minutes) * 60_000, upTo: last, db)
        else { return }
        seconds = max(1, Double(now - first.at) / 1_000)
        let span = last - first.seq + 1
        let picks = span <= Self.counted ? span : Self.samples
        // One change of each of as many equal parts, at a place that the golden ratio scatters: claims and completions
        // alternate regularly, and equal steps might meet only one of them. All changes, if they are few.
        let rows = try db.query(
            """
            SELECT state, count(*)
            FROM generate_series(0, $1::bigint - 1) AS n,
              LATERAL (SELECT $2::bigint + trunc(
                (n + (n * 2654435761 % 4294967296) / 4294967296.0) * $3::bigint / $1)::bigint AS seq) AS pick,
              LATERAL (
                SELECT jobs[place] AS job_id, states[place] AS state
                FROM (SELECT *, seq - last + cardinality(jobs) AS place FROM change WHERE last >= seq ORDER BY last LIMIT 1)
                  AS changes) AS change
            WHERE state IN (4, 5)
              -- Requests that needed no job.
              AND NOT EXISTS (SELECT 1 FROM outcome WHERE id = job_id AND attempted_at IS NULL AND failure IS NULL)
            GROUP BY state
            """,
            [picks, first.seq, span]
        )
        for row in rows {
            let count = Int((Double(try row[1] as Int64) * Double(span) / Double(picks)).rounded())
            if try JobState(code: row[0]) == .completed { completed = count } else { discarded = count }
        }
    }

    /// The first change at or after a time, found by bisection in one statement; nil if the last is earlier.
    private static func first(since time: Int64, upTo last: Int64, _ db: Database) throws -> (seq: Int64, at: Int64)? {
        let first = try db.row(
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
