internal import CameoModel
internal import CameoStore
internal import GRDB

/// Compares stored counters with the rows they count.
enum Counters {
    private static let states = JobState.allCases.map { state in
        "SELECT queue AS id, '\(state.rawValue)' AS state, \(state.rawValue) AS counted, \(state.code) AS code FROM queue_count"
    }
    .joined(separator: " UNION ALL ")

    static let wrongJobs = """
        SELECT queue.name AS queue, stated.state AS state, counted, coalesce(actual, 0) AS actual
        FROM (\(states)) AS stated JOIN queue ON queue.id = stated.id LEFT JOIN (
          SELECT queue, state, count(*) AS actual FROM (
            SELECT queue, state FROM task UNION ALL SELECT queue, state FROM outcome) GROUP BY queue, state) AS counts
          ON counts.queue = stated.id AND counts.state = code
        WHERE counted <> coalesce(actual, 0)
        """

    /// Selects queues that have more ended jobs than ever ended.
    static let wrongEnds =
        JobState.ends.map { state in
            """
            SELECT queue.name AS queue, '\(state.rawValue)' AS state, ever_\(state.rawValue) AS counted, actual FROM (
              SELECT queue AS id, count(*) AS actual FROM outcome WHERE state = \(state.code) GROUP BY queue) AS ended
              JOIN queue_count ON queue_count.queue = ended.id JOIN queue ON queue.id = ended.id
            WHERE ever_\(state.rawValue) < actual
            """
        }
        .joined(separator: " UNION ALL ")

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
        SELECT name AS key, running, actual FROM (
          SELECT name, running, (SELECT count(*) FROM task WHERE state = 2 AND key = key.id) AS actual FROM key)
        WHERE running <> actual
        """

    /// Selects lanes that are shut although their key has room, or open although it has none.
    static let wrongLanes = """
        SELECT key.name AS key FROM lane JOIN key ON key.id = lane.key
        WHERE shut <> (running >= max_running OR opens_at <> 0)
        """

    /// Selects heads above the rank of the first waiting job, which no claim would find. The next claim corrects a head
    /// that is too low.
    static let highHeads = """
        SELECT name AS queue FROM (
          SELECT queue.name AS name, queue.head AS queue_head, lane.head AS lane_head, shut,
            (SELECT min(rank) FROM task WHERE lane = lane.id AND state = 1 AND crash_count < 3) AS first
          FROM lane JOIN queue ON queue.id = lane.queue)
        WHERE first IS NOT NULL AND (lane_head IS NULL OR lane_head > first
          OR shut = 0 AND (queue_head IS NULL OR queue_head > first))
        """

    /// Selects numberings that have come near the end of 64 bits, which only another program can have done: the insert
    /// after the last number fails as if the disk were full. Numbers that JSON's readers know exactly end at 2^53.
    static let exhaustedNumbers = """
        SELECT name, number AS counted, CASE name WHEN 'upload' THEN (SELECT coalesce(max(id), 0) FROM upload)
            ELSE max((SELECT coalesce(max(id), 0) FROM job), (SELECT coalesce(max(job_id), 0) FROM change)) END AS actual
        FROM (SELECT name, seq AS number FROM sqlite_sequence WHERE name IN ('job', 'upload')
          UNION ALL SELECT name, value FROM sequence WHERE name = 'accepted')
        WHERE number > \(1 << 53)
        """

    /// Recomputes all counters, lanes, heads and numberings.
    ///
    /// - Returns: the number of wrong values.
    static func rebuild(_ db: SQLiteTransaction) throws -> Int {
        let queries = [wrongJobs, wrongEnds, wrongTotals, wrongKeys, wrongLanes, highHeads, exhaustedNumbers]
        let wrong = try queries.reduce(0) { sum, query in
            sum + (try Int.fetchOne(db.sqlite, sql: "SELECT count(*) FROM (\(query))") ?? 0)
        }
        guard wrong > 0 else { return 0 }
        let counts = JobState.allCases.map { state -> String in
            let table = state.isFinal ? "outcome" : "task"
            return """
                \(state.rawValue) = (
                  SELECT count(*) FROM \(table) WHERE \(table).queue = queue_count.queue AND \(table).state = \(state.code))
                """
        }
        .joined(separator: ", ")
        let ends = JobState.ends.map { "ever_\($0.rawValue) = max(ever_\($0.rawValue), \($0.rawValue))" }
            .joined(separator: ", ")
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO queue_count(queue) SELECT id FROM queue;
                UPDATE queue_count SET \(counts);
                UPDATE queue_count SET \(ends);
                UPDATE total SET value = (SELECT actual FROM (\(actualTotals)) WHERE name = total.name)
                  WHERE name IN (SELECT name FROM (\(actualTotals)));
                UPDATE key SET running = (SELECT count(*) FROM task WHERE state = 2 AND key = key.id);
                UPDATE lane SET shut = coalesce(
                    (SELECT running >= max_running OR opens_at <> 0 FROM key WHERE key.id = lane.key), 0),
                  head = (SELECT min(rank) FROM task WHERE lane = lane.id AND state = 1 AND crash_count < 3);
                UPDATE queue SET head = (SELECT min(head) FROM lane WHERE queue = queue.id AND shut = 0),
                  full = coalesce((SELECT running FROM queue_count WHERE queue = queue.id) >= max_running, 0);
                CREATE TEMP TABLE numbers AS \(exhaustedNumbers);
                UPDATE sequence SET value = numbers.actual FROM numbers WHERE numbers.name = sequence.name;
                UPDATE sqlite_sequence SET seq = numbers.actual FROM numbers WHERE numbers.name = sqlite_sequence.name;
                DROP TABLE numbers;
                """
        )
        return wrong
    }
}
