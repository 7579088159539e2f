internal import CameoModel
internal import CameoQueue
package import CameoStore
internal import Synchronization

extension PostgreSQLStore {
    package func claim(_ request: ClaimRequest) async throws(StoreError) -> [ClaimedJob] {
        guard request.limit > 0 else { return [] }
        let acceptances = acceptances
        var (isIdle, pages) = (false, 0)
        while true {
            var page: [Arrival] = []
            var hasArrivals = false
            let looks = !lastClaimFoundJobs.load(ordering: .relaxed)
            let look = ClaimOutlook.looking(for: request, now: tables.clock.supplied)
            if looks {
                let wasIdle = isIdle
                (page, hasArrivals, isIdle) = try await read { db in
                    let outlook = try ClaimOutlook(db.query(look.sql, look.values))
                    var isIdle = wasIdle
                    if !wasIdle, !outlook.hasDue {
                        // Whether a claim could neither find anything nor enable a later one to.
                        isIdle =
                            try request.kind == .poison
                            ? db.poisonJob(among: request.queues, request.backgroundJobs) == nil : outlook.lanes.isEmpty
                    }
                    guard outlook.hasArrivals, isIdle || !acceptances.isResting else {
                        return ([], outlook.hasArrivals, isIdle)
                    }
                    let page = try Arrival.page(db, atMost: isIdle ? Arrival.page.rows : Arrival.rowsBesideWork)
                    return (page, true, isIdle)
                }
                if isIdle, page.isEmpty { return [] }
            }
            let arrivals = page
            // Accepting and claiming in one transaction saves a sync for jobs inserted by SQL.
            let claimed = try await claims.commit(.claim, after: arrivals.isEmpty ? look : nil) {
                db -> (count: Int, refused: [LostJob], jobs: [ClaimedJob])? in
                let accepted = try acceptances.measuring(arrivals.count) { try db.accept(arrivals) }
                // What was accepted is in its lane.
                try db.flush()
                let outlook = try ClaimOutlook(db.look.take()?.rows ?? db.query(look.sql, look.values, prepared: true))
                // Rows that SQL inserted may come before those that wait.
                if !looks, outlook.hasArrivals, !acceptances.isResting { return nil }
                let (jobs, lost) = try db.claim(request, outlook)
                return (accepted.count, accepted.refused + lost, jobs)
            }
            lastClaimFoundJobs.store(claimed.map { !$0.jobs.isEmpty } ?? false, ordering: .relaxed)
            guard let (count, refused, jobs) = claimed else { continue }
            acceptances.note(refused)
            // The accepted page may have yielded nothing to claim, such as jobs for later, but more rows may follow it.
            pages += 1
            guard jobs.isEmpty, pages < Arrival.pagesPerClaim,
                !looks || count > 0 || (hasArrivals && !isIdle)
            else { return jobs }
            if hasArrivals { isIdle = true }
        }
    }
}

extension PostgreSQLTransaction {
    /// The next time at which a job may become claimable without a commit, because it becomes due or a rate allows it;
    /// nil if there is none.
    func nextDueTime() throws -> Int64? { try value("SELECT next_due()") }

    fileprivate func claim(_ request: ClaimRequest, _ outlook: ClaimOutlook) throws -> ([ClaimedJob], [LostJob]) {
        guard !outlook.isStopping else { return ([], []) }
        var lanes: [OpenLane]? = outlook.lanes
        if outlook.hasDue {
            let promotion = "SELECT \(TaskRow.columns), before FROM promote_due($1, $2) AS task"
            for row in try query(promotion, [now, ClaimRun.promotions]) {
                move(try TaskRow(row), from: try JobState(code: try row[20]), to: .available)
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
        var run = ClaimRun(self, request)
        let jobs = request.kind == .poison ? try run.poison() : try run.usual(startingWith: lanes)
        return (jobs, run.lost)
    }
}

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
          coalesce((SELECT min(due) FROM task WHERE state IN (0, 3)) <= time, false) OR \(Dialect.postgreSQL.mayOpen(at: "time")),
          \(OpenLane.columns)
        FROM (SELECT coalesce($5, now_ms()) AS time) AS clock
          LEFT JOIN open_lanes($1::text[], $2::boolean, $3::integer) ON true
        """

    /// The statement that looks at the lanes for a claim. `now` is the time in milliseconds since 1970; nil: the server's.
    static func looking(for request: ClaimRequest, now: Int64?) -> Connection.Statement {
        let (queues, hasRoom) = (request.queues.map { SQLArray($0) }, request.background > 0)
        // One more than can be needed: what comes after the others is bounded by it.
        let keys = min(request.limit, ClaimRun.lanesOfKeys) + 1
        return .init(look, [queues, hasRoom, keys, request.worker, now], prepared: true)
    }

    /// Reads the rows of ``look``.
    init(_ rows: [Row]) throws {
        guard let first = rows.first else { throw StoreError.failed("a look at the queue returned no row") }
        (hasArrivals, isStopping, hasDue) = (try first[0], try first[1], try first[2])
        let lane: Int64? = try first[3]
        lanes = try lane == nil ? [] : rows.map { try OpenLane($0, from: 3) }
    }
}

/// What a write does with a job that its worker has claimed: the job's task is locked and looked up beforehand.
struct ClaimUse: Sendable {
    let claim: Claim
    /// If not nil, the job is completed beforehand, in the round trip of BEGIN, unless its group is run again with savepoints:
    /// then it is held. The write throws if the job must not be completed.
    var timings: (@Sendable () -> AttemptTimings)?
}

extension AttemptTimings {
    /// The values of ``Schema/timings``, each a list with one for each attempt.
    static func columns(_ timings: [AttemptTimings?]) -> [(any SQLBindable)?] {
        func list(_ value: (AttemptTimings) -> Int?) -> SQLArray { SQLArray(timings.map { $0.flatMap(value) }) }
        return [
            list(\.throttledMilliseconds), list(\.fetchMilliseconds), list(\.queueMilliseconds),
            list(\.renderMilliseconds), list(\.storeMilliseconds), list(\.sourceBytes), list(\.outputBytes),
        ]
    }
}
