internal import GRDB

/// What triggers count, and what there is.
enum Counters {
    static let wrongJobs = """
        SELECT queue, state, sum(counted) AS counted, sum(actual) AS actual FROM (
          SELECT queue, state, count AS counted, 0 AS actual FROM job_count
          UNION ALL SELECT queue, state, 0, count(*) FROM job GROUP BY queue, state)
        GROUP BY queue, state HAVING sum(counted) <> sum(actual)
        """

    private static let actualTotals = """
        SELECT 'blobs' AS name, count(*) AS actual FROM blob
        UNION ALL SELECT 'blob_bytes', coalesce(sum(size), 0) FROM blob
        UNION ALL SELECT 'thumbnails', count(*) FROM thumbnail
        UNION ALL SELECT 'sources', count(*) FROM source WHERE pinned = 0
        UNION ALL SELECT 'source_bytes', coalesce(sum(size), 0) FROM source WHERE pinned = 0
        """

    static let wrongTotals = """
        SELECT name, value AS counted, actual FROM total JOIN (\(actualTotals)) USING (name) WHERE value <> actual
        """

    static let wrongKeys = """
        SELECT key, running, actual FROM (
          SELECT key, running,
            (SELECT count(*) FROM job INDEXED BY job_running
              WHERE state = 'running' AND concurrency_key = concurrency.key) AS actual
          FROM concurrency)
        WHERE running <> actual
        """

    /// Keys that have room, and of whose waiting jobs none is open. One that is to be decided anew by the next claim may
    /// look so until then.
    static let closedKeys = """
        SELECT key FROM concurrency WHERE changed = 0 AND max_running > running
          AND EXISTS (SELECT 1 FROM job INDEXED BY job_key
            WHERE state = 'available' AND concurrency_key = key)
          AND NOT EXISTS (SELECT 1 FROM job INDEXED BY job_key_open
            WHERE state = 'available' AND held = 0 AND concurrency_key = key)
        """

    /// - Returns: how many numbers were wrong, and keys closed.
    static func rebuild(_ db: Database) throws -> Int {
        let wrong = try [wrongJobs, wrongTotals, wrongKeys, closedKeys].reduce(0) { sum, query in
            sum + (try Int.fetchOne(db, sql: "SELECT count(*) FROM (\(query))") ?? 0)
        }
        guard wrong > 0 else { return 0 }
        try db.execute(
            sql: """
                DELETE FROM job_count;
                INSERT INTO job_count(queue, state, count) SELECT queue, state, count(*) FROM job GROUP BY queue, state;
                UPDATE total SET value = (SELECT actual FROM (\(actualTotals)) WHERE name = total.name)
                  WHERE name IN (SELECT name FROM (\(actualTotals)));
                UPDATE concurrency SET changed = 1, running =
                  (SELECT count(*) FROM job WHERE state = 'running' AND concurrency_key = concurrency.key);
                """
        )
        return wrong
    }
}
