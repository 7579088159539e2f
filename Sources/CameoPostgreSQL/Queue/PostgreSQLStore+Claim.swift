internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Synchronization

/// A call of a worker that claims jobs, and the look at the queue before it.
extension PostgreSQLStore {
    package func claim(_ request: ClaimRequest) async throws(StoreError) -> [ClaimedJob] {
        guard request.limit > 0 else { return [] }
        let acceptances = acceptances
        var (isIdle, pages) = (false, 0)
        while true {
            var page: [Arrival] = []
            var hasArrivals = false
            let looks = !lastClaimFoundJobs.load(ordering: .relaxed)
            let (begin, now) = (floors.current, tables.clock.supplied)
            let look = ClaimOutlook.looking(for: request, now: now, from: begin)
            let wholeLook = begin == nil ? look : ClaimOutlook.looking(for: request, now: now, from: nil)
            // A look that does not begin at the first jobs, and finds none, has to.
            let mustLookAgain = { @Sendable (outlook: ClaimOutlook) in begin != nil && outlook.lanes.isEmpty }
            if looks {
                var outlook = try await reads.look(look) { rows, _ in try ClaimOutlook(rows) }
                let isAgain = mustLookAgain(outlook)
                if isAgain { outlook = try await reads.look(wholeLook) { rows, _ in try ClaimOutlook(rows) } }
                floors.note(outlook, wasWhole: isAgain || begin == nil)
                hasArrivals = outlook.hasArrivals
                if !isIdle, !outlook.hasDue {
                    // Whether a claim could neither find anything nor enable a later one to.
                    isIdle = request.kind == .poison ? !outlook.hasPoison : outlook.lanes.isEmpty
                    if request.kind == .poison, !isIdle { isIdle = try await !mayRunPoison(request) }
                }
                guard hasArrivals || outlook.isForgetting || !isIdle else { return [] }
                if hasArrivals, isIdle || !acceptances.isResting {
                    let limit = isIdle ? Arrival.page.rows : Arrival.rowsBesideWork
                    page = try await read { db in try Arrival.page(db, atMost: limit) }
                }
            }
            let arrivals = page
            // Accepting and claiming in one transaction saves a sync for jobs inserted by SQL.
            let claimed = try await claims.commit(.claim, after: arrivals.isEmpty ? look : nil) {
                [floors] db -> (
                    accepted: (count: Int, refused: [LostJob], isUnmirrored: Bool), lost: [LostJob], jobs: [ClaimedJob]
                )? in
                let accepted = try acceptances.measuring(arrivals.count) { try db.accept(arrivals) }
                // What was accepted is in its lane.
                try db.flush()
                var outlook = try ClaimOutlook(
                    db.look.take()?.rows ?? db.query(look.sql, look.values, prepared: true)
                )
                let isAgain = mustLookAgain(outlook)
                if isAgain { outlook = try ClaimOutlook(db.query(wholeLook.sql, wholeLook.values, prepared: true)) }
                floors.note(outlook, wasWhole: isAgain || begin == nil)
                // Rows that SQL inserted may come before those that wait.
                if !looks, outlook.hasArrivals, !acceptances.isResting { return nil }
                let (jobs, lost) = try db.claim(request, outlook, from: begin)
                return (accepted, lost, jobs)
            }
            lastClaimFoundJobs.store(claimed.map { !$0.jobs.isEmpty } ?? false, ordering: .relaxed)
            guard let (accepted, lost, jobs) = claimed else { continue }
            acceptances.note(accepted.refused + lost)
            // If it fails, whoever next accepts rows, or finds none to accept, tries again.
            if accepted.isUnmirrored { errands.start { [self] in try? await mirrorAccepted() } }
            // The accepted page may have yielded nothing to claim, such as jobs for later, but more rows may follow it.
            pages += 1
            guard jobs.isEmpty, pages < Arrival.pagesPerClaim,
                !looks || accepted.count > 0 || (hasArrivals && !isIdle)
            else { return jobs }
            if hasArrivals { isIdle = true }
        }
    }

    private func mayRunPoison(_ request: ClaimRequest) async throws(StoreError) -> Bool {
        try await read { db in try db.poisonJob(among: request.queues, request.backgroundJobs) != nil }
    }
}

extension PostgreSQLTransaction {
    func claim(
        _ request: ClaimRequest,
        _ outlook: ClaimOutlook,
        from floors: LaneFloors.Ranks?
    ) throws -> ([ClaimedJob], [LostJob]) {
        guard !outlook.isStopping else { return ([], []) }
        var lanes: [OpenLane]? = outlook.lanes
        if outlook.isForgetting {
            try endForgottenJobs()
            try flush()
            lanes = nil
        }
        if outlook.hasDue {
            for row in try query("SELECT * FROM promote_due($1, $2)", [now, ClaimRun.promotions]) {
                var task = try TaskRow(
                    id: row["id"],
                    queue: row["queue"],
                    key: row["key"],
                    lane: row["lane"],
                    tenant: row["tenant"]
                )
                (task.due, task.priority, task.crashCount) = try (row["due"], row["priority"], row["crash_count"])
                move(task, from: try row["before"] as JobState, to: .available)
            }
            // Rows that another transaction has locked are left to it.
            for table in ["queue", "key"] {
                try execute(
                    """
                    UPDATE \(table) SET opens_at = 0
                    WHERE id IN (SELECT id FROM \(table) WHERE \(dialect.isOpeningDue(at: "$1")) ORDER BY id FOR UPDATE SKIP LOCKED)
                    """,
                    [now]
                )
            }
            // What was promoted is in its lane.
            try flush()
            lanes = nil
        }
        var run = ClaimRun(self, request, from: floors)
        let jobs = request.kind == .poison ? try run.poison() : try run.usual(startingWith: lanes)
        // A forget that was committed since has not seen that they are claimed. A later one waits for this transaction.
        guard !jobs.isEmpty, run.isForgetting else { return (jobs, run.lost) }
        try endForgottenJobs()
        try flush()
        let ids = SQLArray(jobs.map(\.claim.jobID))
        let left: [Int64] = try column("SELECT id FROM task WHERE id = ANY($1::bigint[])", [ids])
        return (jobs.filter { left.contains($0.claim.jobID) }, run.lost)
    }
}

/// What a claim has to know first, by one statement.
struct ClaimOutlook {
    /// Whether there are jobs that SQL inserted and that were not accepted yet.
    let hasArrivals: Bool
    /// Whether jobs may be left of what was forgotten.
    let isForgetting: Bool
    /// Whether the worker was asked to stop. It may not have seen that yet, but who asked has been told that nothing more
    /// is claimed.
    let isStopping: Bool
    /// Whether jobs are due or rates allow more, and the lanes do not show it yet.
    let hasDue: Bool
    let hasPoison: Bool
    let lanes: [OpenLane]
    /// How long the server looked.
    var took: Duration

    static let isForgetting = "EXISTS (SELECT 1 FROM forget WHERE done_at IS NULL)"

    /// Looks at lanes. The earliest due time is found by `min`, which only the index of such times gives; the duration comes
    /// last, since the columns are computed in their order.
    static func look(at lanes: String = allLanes) -> String {
        """
        SELECT EXISTS (SELECT 1 FROM arrival) AS has_arrivals,
          \(isForgetting) AS is_forgetting,
          EXISTS (SELECT 1 FROM worker WHERE id = $4 AND stop_mode IS NOT NULL) AS is_stopping,
          coalesce((SELECT min(due) FROM task WHERE \(TaskRow.isPostponed)) <= time, false)
            OR \(PostgreSQLTransaction.dialect.mayOpen(at: "time")) AS has_due,
          EXISTS (SELECT 1 FROM task WHERE \(TaskRow.isPoison)) AS has_poison, \(OpenLane.columns),
          (extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint AS took
        FROM (SELECT coalesce($5, now_ms()) AS time) AS clock LEFT JOIN \(lanes) ON true
        """
    }

    private static let allLanes = "open_lanes($1::text[], $2::boolean, $3::integer)"

    /// The statement that looks at the lanes for a claim. `now` is the time in milliseconds since 1970; nil: the server's.
    static func looking(for request: ClaimRequest, now: Int64?, from ranks: LaneFloors.Ranks?) -> Connection.Statement {
        // One more than can be needed: what comes after the others is bounded by it.
        let keys = min(request.limit, ClaimRun.lanesOfKeys) + 1
        let lanes = lanes(for: request, keys: keys, from: ranks, asParameter: 6)
        var values = lanes.values
        values.insert(contentsOf: [request.worker, now] as [(any SQLBindable)?], at: 3)
        return .init(look(at: lanes.sql), values, prepared: true)
    }

    /// The lanes to claim from, for FROM, and the values of its parameters: 1 to 3, and one more if the looks begin
    /// somewhere. `keys` is the number of lanes of keys that are wanted of each queue.
    static func lanes(
        for request: ClaimRequest,
        keys: Int,
        from floors: LaneFloors.Ranks?,
        asParameter ranks: Int
    ) -> (sql: String, values: [(any SQLBindable)?]) {
        let (queues, hasRoom) = (request.queues.map { SQLArray($0) }, request.background > 0)
        guard let floors else { return (allLanes, [queues, hasRoom, keys]) }
        let lanes = Array(floors.keys)
        let values: [(any SQLBindable)?] = [queues, hasRoom, SQLArray(lanes), SQLArray(lanes.map { floors[$0] })]
        return (Schema.openLanes(fromRanks: "$\(ranks)"), values)
    }

    /// Reads the rows of ``look``.
    init(_ rows: [QueueRow]) throws {
        guard let first = rows.first else { throw StoreError.failed("a look at the queue returned no row") }
        (hasArrivals, isStopping) = try (first["has_arrivals"], first["is_stopping"])
        isForgetting = try first["is_forgetting"]
        (hasDue, hasPoison) = try (first["has_due"], first["has_poison"])
        lanes = try first["lane"] as Int64? == nil ? [] : rows.map { try OpenLane($0) }
        took = .microseconds(try first["took"] as Int64)
    }
}

// DESIGN. While a snapshot is held in the database (by a dump, a long transaction, a standby that is read), nothing dead
// goes, not even from the index of what waits: a look at a lane's first job passes all that were claimed since. With 60,000
// of them it took 40 ms. So after a look that took long, others begin at the jobs that the last one has found, for ten times
// as long, a second at most. Jobs of lower ranks, such as more urgent ones, and of lanes that had none are found after
// that, or once a look finds nothing.

/// Where looks at the lanes begin.
final class LaneFloors: Sendable {
    /// The rank in each lane.
    typealias Ranks = [Int64: Int64]
    private static let (longest, factor, longestWait) = (Duration.milliseconds(2), 10, Duration.seconds(1))
    let state = Mutex<(ranks: Ranks, end: ContinuousClock.Instant)?>(nil)

    /// Nil: looks begin at the first jobs.
    var current: Ranks? {
        state.withLock { state in
            if let end = state?.end, end <= .now { state = nil }
            return state?.ranks
        }
    }

    /// Notes what a look has found, and whether it began at the first jobs. Lanes of keys and tenants go up and down: where there
    /// are such, looks begin at the first jobs.
    func note(_ outlook: ClaimOutlook, wasWhole: Bool) {
        let (took, lanes) = (outlook.took, outlook.lanes)
        let mayBegin = took > Self.longest && !lanes.isEmpty && lanes.allSatisfy { !$0.hasHead && $0.share == nil }
        state.withLock { state in
            if wasWhole { state = mayBegin ? ([:], .now + min(took * Self.factor, Self.longestWait)) : nil }
            guard var noted = state else { return }
            for lane in lanes { noted.ranks[lane.lane] = max(lane.head, noted.ranks[lane.lane] ?? lane.head) }
            state = noted
        }
    }
}

/// What a write does with a job that its worker has claimed: the job's task is locked and looked up beforehand.
struct ClaimUse: Sendable {
    let claim: Claim
    /// If not nil, the job is completed beforehand, in the round trip of BEGIN, unless its group is run again with savepoints:
    /// then it is held. The write throws if the job must not be completed.
    var timings: (@Sendable () -> AttemptTimings)?
}
