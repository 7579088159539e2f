internal import CameoModel
internal import CameoStore

/// What follows from records that came from another store.
enum Reception {
    static var statements: [Connection.Statement] {
        [counts, heads, feed].map { .init($0) } + ["queue", "key", "lane", "batch"].map { numbering($0, "id") }
            + [numbering("delivery", "seq")]
    }

    private static let counts = """
        UPDATE queue_count SET \(JobState.allCases.map { "\($0.rawValue) = coalesce(counted.\($0.rawValue), 0)" }
            .joined(separator: ", "))
        FROM queue LEFT JOIN (
          SELECT queue, \(JobState.allCases.map { "count(*) FILTER (WHERE state = \($0.code)) AS \($0.rawValue)" }
            .joined(separator: ", "))
          FROM (SELECT queue, state FROM task UNION ALL SELECT queue, state FROM outcome) AS jobs GROUP BY queue
        ) AS counted ON counted.queue = queue.id
        WHERE queue_count.queue = queue.id
        """

    private static let heads = """
        UPDATE lane SET head = (
          SELECT min(rank) FROM task WHERE task.lane = lane.id AND task.state = 1 AND task.crash_count < 3)
        WHERE key <> 0
        """

    private static let feed = "UPDATE feed SET last = (SELECT coalesce(max(last), 0) FROM change)"

    static let analysis =
        "ANALYZE \(RecordKind.allCases.filter { $0 != .number }.map(\.table).joined(separator: ", "))"

    /// Lets the numbers of new rows follow those that are there.
    private static func numbering(_ table: String, _ column: String) -> Connection.Statement {
        .init(
            """
            SELECT setval(pg_get_serial_sequence('\(table)', '\(column)'), coalesce(max(\(column)), 1),
              max(\(column)) IS NOT NULL) FROM \(table)
            """
        )
    }
}
