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
          coalesce((SELECT min(due) FROM task WHERE state IN (0, 3)) <= $5, false) OR \(Rates.mayOpen(at: "$5")),
          \(OpenLane.columns)
        FROM (VALUES (1)) AS one LEFT JOIN open_lanes($1::text[], $2::boolean, $3::integer) ON true
        """

    /// Looks at the lanes for a claim of a number of jobs, so many of which may be background jobs.
    init(for worker: String, _ limit: Int, _ background: Int, _ queues: [String]?, _ db: Database) throws {
        let rows = try db.query(
            Self.look,
            [queues.map { SQLArray($0) }, background > 0, ClaimRun.lanesOfKeys(for: limit), worker, db.now],
            prepared: db.isWriting
        )
        guard let first = rows.first else { throw StoreError.failed("a look at the queue returned no row") }
        (hasArrivals, isStopping, hasDue) = (try first[0], try first[1], try first[2])
        let lane: Int64? = try first[3]
        lanes = try lane == nil ? [] : rows.map { try OpenLane($0, from: 3) }
    }
}
