internal import CameoStore

/// What a claim has to know first, by one statement.
struct ClaimOutlook {
    /// Whether there are jobs that SQL inserted and that were not accepted yet.
    let hasArrivals: Bool
    /// Whether the worker was asked to stop. It may not have seen that yet, but who asked has been told that nothing more
    /// is claimed.
    let isStopping: Bool
    /// Whether jobs are due or rates allow more, and the lanes do not show it yet.
    let hasDue: Bool
    let lanes: [OpenLane]

    /// The earliest due time by `min`, which only the index of such times gives.
    static let look = """
        SELECT EXISTS (SELECT 1 FROM arrival), EXISTS (SELECT 1 FROM worker WHERE id = $4 AND stop_mode IS NOT NULL),
          coalesce((SELECT min(due) FROM task WHERE state IN (0, 3)) <= time, false) OR \(Rates.mayOpen(at: "time")),
          \(OpenLane.columns)
        FROM (SELECT coalesce($5, now_ms()) AS time) AS clock
          LEFT JOIN open_lanes($1::text[], $2::boolean, $3::integer) ON true
        """

    /// The statement that looks at the lanes for a claim of a number of jobs, so many of which may be background jobs.
    /// `now` is the time in milliseconds since 1970; nil: the server's.
    static func looking(
        for worker: String,
        _ limit: Int,
        _ background: Int,
        _ queues: [String]?,
        now: Int64?
    ) -> Connection.Statement {
        let keys = ClaimRun.lanesOfKeys(for: limit)
        return .init(look, [queues.map { SQLArray($0) }, background > 0, keys, worker, now], prepared: true)
    }

    /// Reads the rows of ``look``.
    init(_ rows: [Row]) throws {
        guard let first = rows.first else { throw StoreError.failed("a look at the queue returned no row") }
        (hasArrivals, isStopping, hasDue) = (try first[0], try first[1], try first[2])
        let lane: Int64? = try first[3]
        lanes = try lane == nil ? [] : rows.map { try OpenLane($0, from: 3) }
    }
}
