internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

// DESIGN. A claim goes to the lane of lowest rank, and takes jobs from there up to the first job of the next lane. Rows
// that another claim has locked are skipped, so that claims do not wait for each other. Where a limit or a rate counts,
// one claim at a time decides: it holds a lock until its commit, and looks at the lanes again once it has it.
// The lanes and keys that it locks itself are skipped if others have them: those are enqueuers and settlements, whose
// commits wake workers.
struct ClaimRun {
    /// The most lanes of keys of each queue that are looked at together, beside the one that bounds what comes after them.
    static let lanesOfKeys = 64

    /// The maximum number of scheduled and retryable jobs made available by one claim.
    static let promotions = 1_000

    private let db: PostgreSQLTransaction
    /// What is left to claim.
    private var left: ClaimRequest
    private var rooms: [Int64: Int] = [:]
    /// Whether another look at the lanes may show others: some were emptied, closed, or not as low as they seemed.
    private var hasProgressed = false
    private var jobs: [ClaimedJob] = []
    /// Jobs whose rows another program has deleted, with which they end.
    private(set) var lost: [LostJob] = []
    /// Whether there were forgets when jobs were taken.
    private(set) var isForgetting = false
    /// Where looks at the lanes begin; nil: at their first jobs.
    private var floors: LaneFloors.Ranks?

    init(_ db: PostgreSQLTransaction, _ request: ClaimRequest, from floors: LaneFloors.Ranks? = nil) {
        (self.db, left, self.floors) = (db, request, floors)
    }

    /// Claims jobs that are not poison jobs. `found` are the lanes that an outlook has found.
    mutating func usual(startingWith found: [OpenLane]? = nil) throws -> [ClaimedJob] {
        var (hasTurn, keys, found) = (false, min(left.limit, Self.lanesOfKeys), found)
        while left.limit > 0 {
            var lanes = try found ?? openLanes(keys: keys + 1)
            found = nil
            if !hasTurn, lanes.contains(where: \.isLimited) {
                try db.lock(.limitedClaim)
                if lanes.contains(where: { $0.share != nil }) { try db.foldCosts() }
                hasTurn = true
                continue
            }
            for lane in lanes { rooms[lane.queue] = lane.room }
            // The last lane of each queue that may have more lanes of keys, which were not looked at.
            let ofKeys = Dictionary(grouping: lanes.filter(\.hasHead), by: \.queue).values
            let rest = ofKeys.filter { $0.count > keys }.compactMap { $0.max(by: OpenLane.precedes) }
            lanes.removeAll { lane in rest.contains { $0.lane == lane.lane } }
            hasProgressed = false
            let lostBefore = lost.count
            try claim(from: lanes, before: rest)
            if lost.count > lostBefore { continue }
            guard !rest.isEmpty else {
                // There may be others below, or in other lanes.
                guard floors != nil, jobs.isEmpty else { break }
                floors = nil
                continue
            }
            if hasProgressed { continue }
            // Others have locked all of these lanes. What comes after them need not wait for that.
            guard keys < Self.lanesOfKeys else {
                try claim(from: lanes, before: [])
                break
            }
            keys = Self.lanesOfKeys
        }
        return jobs
    }

    /// Finds the lanes, without those of more than a number of keys in each queue.
    private func openLanes(keys: Int) throws -> [OpenLane] {
        let look = ClaimOutlook.lanes(for: left, keys: keys, from: floors, asParameter: 4)
        let statement = "SELECT \(OpenLane.columns) FROM \(look.sql)"
        let rows = try db.query(statement, look.values, prepared: floors != nil)
        return try rows.map { try OpenLane($0) }
    }

    /// Claims from lanes up to those in `rest`, which have not been looked at.
    private mutating func claim(from lanes: [OpenLane], before rest: [OpenLane]) throws {
        var (open, rest) = (lanes, rest)
        // A fair queue waits for its turn by its first job, in whichever lane.
        for place in open.indices where open[place].share != nil {
            open[place].front = lanes.filter { $0.queue == open[place].queue }.map(\.front).min() ?? open[place].front
        }
        open.sort(by: OpenLane.precedes)
        while left.limit > 0, var lane = open.first {
            open.removeFirst()
            guard !lane.isBackground || left.background > 0 else { return }
            // Ranks of background queues and of others are not compared, nor those of queues without room.
            let unseen = rest.filter { $0.isBackground == lane.isBackground && rooms[$0.queue] != 0 }.map(\.front).min()
            guard lane.front <= unseen ?? .max else { continue }
            let next = open.first.flatMap { $0.isBackground == lane.isBackground ? $0.front : nil }
            let bound = min(next ?? .max, unseen ?? .max)
            let hasRivals = (open + rest).contains { $0.queue != lane.queue && $0.isBackground == lane.isBackground }
            // Beside another queue one at a time, because the order of queues follows their first jobs.
            if lane.share != nil, lane.isAlone, !hasRivals {
                try take(fairly: lane, from: &open, before: rest)
                continue
            }
            let room = try room(of: lane)
            guard room > 0 else { continue }
            if lane.share != nil {
                try take(hasRivals ? min(room, 1) : room, fairly: lane, from: &open, before: &rest)
                continue
            }
            let taken = try take(room, from: lane, upTo: bound)
            let look = "SELECT min(rank) FROM task WHERE lane = $1 AND \(TaskRow.isReady) AND rank > $2"
            guard bound < .max, taken < room, let head: Int64 = try db.value(look, [lane.lane, bound]) else { continue }
            (lane.head, lane.front, lane.beyond) = (head, head, bound)
            open.insert(lane, at: open.firstIndex { OpenLane.precedes(lane, $0) } ?? open.endIndex)
        }
    }

    /// Claims from the lanes of a fair queue that have had least, from all of them together, and charges them.
    private mutating func take(fairly lane: OpenLane, from open: inout [OpenLane], before rest: [OpenLane]) throws {
        // What comes before the first that must be claimed from by itself.
        let end = (open.filter { !$0.isAlone } + rest).filter { $0.queue == lane.queue }.compactMap(\.share?.used).min()
        let found = [lane] + open.filter { $0.queue == lane.queue && $0.isAlone }
        let planned = Self.plan(try roomOfQueue(lane), of: found, before: end ?? .infinity)
        open.removeAll { lane in planned.contains { $0.lane.lane == lane.lane } }
        guard !planned.isEmpty else { return }
        let token = Self.newToken()
        let result = try db.query([
            .init(
                "SELECT * FROM claim_shares($1, $2, $3, $4, $5, $6, $7, $8)",
                [
                    SQLArray(planned.map(\.lane.lane)), SQLArray(planned.map(\.jobs)),
                    SQLArray(planned.map(\.lane.beyond)), SQLArray(planned.map { $0.lane.share?.used }),
                    SQLArray(planned.map { $0.lane.share?.charge }), token, left.worker, db.now,
                ],
                prepared: true
            ),
            .init("SELECT \(ClaimOutlook.isForgetting)", prepared: true),
        ])
        isForgetting = try result[1].rows.first?[0] ?? false || isForgetting
        let claimed = try result[0].rows.filter { try $0["id"] as Int64? != nil }
        let free = Set(try result[0].rows.filter { try $0["id"] as Int64? == nil }.map { try $0["lane"] as Int64 })
        let before = jobs.count
        try add(claimed, of: token, from: (lane.queue, lane.queueName, lane.isBackground, 0))
        let taken = try Dictionary(grouping: claimed) { try $0["lane"] as Int64 }.mapValues(\.count)
        try note(taken: jobs.count - before, from: lane)
        var floor = 0.0
        for (lane, wanted) in planned {
            let count = taken[lane.lane] ?? 0
            guard var share = lane.share, count > 0 else {
                // Its head was too low.
                hasProgressed = hasProgressed || free.contains(lane.lane)
                continue
            }
            floor = max(floor, share.used + Double(count - 1) * share.charge)
            guard count == wanted else { continue }
            share.used += Double(count) * share.charge
            var more = lane
            more.share = share
            open.insert(more, at: open.firstIndex { OpenLane.precedes(more, $0) } ?? open.endIndex)
        }
        try raiseFloor(of: lane.queue, to: floor)
    }

    /// How many jobs each lane may have, so that whoever has had least is next, until one has had more than `end`.
    private static func plan(_ room: Int, of lanes: [OpenLane], before end: Double) -> [(lane: OpenLane, jobs: Int)] {
        var (left, planned) = (room, lanes.map { (lane: $0, jobs: 0, share: $0.share) })
        func used(_ place: Int) -> Double { planned[place].share?.used ?? .infinity }
        while left > 0, let next = planned.indices.min(by: { used($0) < used($1) }), used(next) <= end,
            let share = planned[next].share
        {
            let second = planned.indices.filter { $0 != next }.map(used).min() ?? .infinity
            let limit = min(second, end)
            let jobs = min(left, share.jobs(before: limit.isFinite ? limit : nil))
            planned[next].jobs += jobs
            planned[next].share?.used += Double(jobs) * share.charge
            left -= jobs
        }
        return planned.filter { $0.jobs > 0 }.map { ($0.lane, $0.jobs) }
    }

    private func raiseFloor(of queue: Int64, to floor: Double) throws {
        try db.execute("UPDATE queue SET share_floor = $2 WHERE id = $1 AND share_floor < $2", [queue, floor])
    }

    /// Claims from the lane of a fair queue that has had least, until it has had more than the next, and charges it.
    private mutating func take(
        _ room: Int,
        fairly lane: OpenLane,
        from open: inout [OpenLane],
        before rest: inout [OpenLane]
    ) throws {
        var lane = lane
        guard var share = lane.share else { return }
        let others = (open + rest).filter { $0.queue == lane.queue }
        let limit = rest.filter { $0.queue == lane.queue }.compactMap(\.share?.used).min()
        if let limit, share.used > limit { return }
        let jobs = share.jobs(before: others.compactMap(\.share?.used).min())
        let before = self.jobs.count
        let taken = try take(min(room, jobs), from: lane, upTo: .max)
        try db.execute(
            "UPDATE task SET charged = $1 WHERE id = ANY($2::bigint[])",
            [share.charge, SQLArray(self.jobs[before...].map(\.claim.jobID))]
        )
        let floor = share.used
        share.used += Double(taken) * share.charge
        // In a lane of no key and tenant, the head says only whether it had waiting jobs.
        let row = try db.row(
            """
            UPDATE lane SET used = $2, head = (
              SELECT min(rank) FROM task WHERE task.lane = lane.id AND \(TaskRow.isReady))
            WHERE id = $1 RETURNING head, tenant <> 0 AND EXISTS (SELECT 1 FROM lane AS other
              WHERE other.queue = lane.queue AND other.tenant = lane.tenant AND other.id <> lane.id) AS has_siblings
            """,
            [lane.lane, share.used]
        )
        let head: Int64? = try row?["head"]
        if head ?? .max > lane.head { hasProgressed = true }
        try raiseFloor(of: lane.queue, to: floor)
        if try row?["has_siblings"] == true { try raise(siblingsOf: lane, to: share.used, in: &open) }
        guard let head, taken > 0 || head > lane.head else { return }
        (lane.share, lane.head, lane.beyond) = (share, head, head - 1)
        if (open + rest).contains(where: { $0.queue != lane.queue }) {
            let stored: Int64? = try db.value(Self.front, [lane.queue])
            let front = ([lane] + open).filter { $0.queue == lane.queue && !$0.hasHead }.map(\.head).min()
            lane.front = min(stored ?? .max, front ?? .max)
            for place in open.indices where open[place].queue == lane.queue { open[place].front = lane.front }
            for place in rest.indices where rest[place].queue == lane.queue { rest[place].front = lane.front }
            open.sort(by: OpenLane.precedes)
        }
        open.insert(lane, at: open.firstIndex { OpenLane.precedes(lane, $0) } ?? open.endIndex)
    }

    /// The rank of the first job of a queue in the lanes that have a head and whose keys have room, as `open_lanes` finds it.
    private static let front = """
        SELECT min(first.rank) FROM (
          SELECT id FROM lane WHERE queue = $1 AND head IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM key WHERE key.id = lane.key AND (opens_at <> 0 OR max_running <= (
              SELECT count(*) FROM task WHERE task.key = key.id AND key <> 0 AND \(TaskRow.isRunning))))
          ORDER BY head LIMIT 16) AS low
          CROSS JOIN LATERAL (
            SELECT rank FROM task WHERE lane = low.id AND \(TaskRow.isReady) ORDER BY rank LIMIT 1) AS first
        """

    /// Raises what the other lanes of a tenant have had. Those that others have locked follow with the next charge.
    private func raise(siblingsOf lane: OpenLane, to used: Double, in open: inout [OpenLane]) throws {
        try db.execute(
            """
            UPDATE lane SET used = $1 WHERE id IN (
              SELECT id FROM lane WHERE id = ANY(ARRAY(\(Share.lanes(queue: "$2", tenant: "$3")))) AND used < $1 AND id <> $4
              FOR UPDATE SKIP LOCKED)
            """,
            [used, lane.queue, lane.tenant, lane.lane]
        )
        for place in open.indices where open[place].queue == lane.queue && open[place].tenant == lane.tenant {
            let had = open[place].share?.used ?? used
            open[place].share?.used = max(used, had)
        }
        open.sort(by: OpenLane.precedes)
    }

    /// How many jobs the claim may take from a queue, whose row it locks if the queue has a rate.
    private mutating func roomOfQueue(_ lane: OpenLane) throws -> Int {
        var room = lane.isBackground ? min(left.limit, left.background) : left.limit
        if let ofQueue = rooms[lane.queue] { room = min(room, ofQueue) }
        guard lane.hasRate else { return room }
        try db.execute("SELECT 1 FROM queue WHERE id = $1 FOR UPDATE", [lane.queue])
        let starts = try startsLeft(.queue, lane.queue)
        if starts == 0 { rooms[lane.queue] = 0 }
        return min(room, starts)
    }

    /// How many jobs the claim may take from a lane: 0 if another transaction has locked it. Locks what is limited.
    private mutating func room(of lane: OpenLane) throws -> Int {
        let room = try roomOfQueue(lane)
        guard room > 0, lane.hasHead || lane.share != nil else { return room }
        guard lane.key != 0 else {
            let locked = "SELECT 1 FROM lane WHERE id = $1 FOR UPDATE SKIP LOCKED"
            return try db.row(locked, [lane.lane]) == nil ? 0 : room
        }
        let ofKey: Int? = try db.value(
            """
            SELECT max_running - (SELECT count(*) FROM task WHERE task.key = key.id AND task.\(TaskRow.isRunning))
            FROM lane JOIN key ON key.id = lane.key WHERE lane.id = $1 AND opens_at = 0
            FOR UPDATE OF lane, key SKIP LOCKED
            """,
            [lane.lane]
        )
        guard let ofKey else { return 0 }
        return max(0, min(room, ofKey, try startsLeft(.key, lane.key)))
    }

    /// How many starts a rate allows. One that is open but empty is closed: a clock that was set back opened it.
    private mutating func startsLeft(_ table: LimitedTable, _ id: Int64) throws -> Int {
        let free = try db.freeStarts(table, id)
        guard free == 0 else { return free }
        try db.spend(0, table, id)
        hasProgressed = true
        return 0
    }

    /// - Returns: how many jobs were claimed.
    private mutating func take(_ many: Int, from lane: OpenLane, upTo bound: Int64) throws -> Int {
        let token = Self.newToken()
        let found = try db.query([
            .init(
                "SELECT * FROM claim_lane($1, $2, $3, $4, $5, $6, $7)",
                [lane.lane, lane.beyond, bound, many, token, left.worker, db.now],
                prepared: true
            ),
            .init("SELECT \(ClaimOutlook.isForgetting)", prepared: true),
        ])
        isForgetting = try found[1].rows.first?[0] ?? false || isForgetting
        let before = jobs.count
        try add(found[0].rows, of: token, from: (lane.queue, lane.queueName, lane.isBackground, lane.key))
        let taken = jobs.count - before
        try note(taken: taken, from: lane)
        if lane.key != 0, taken > 0 { try db.spend(taken, .key, lane.key) }
        // A fair one's is written with what it has had.
        guard lane.hasHead, lane.share == nil else { return taken }
        // Raises the lane's head to its first job. The lane is locked by an earlier statement, so that this one sees all jobs
        // that ever lowered it.
        let head: Int64? = try db.row(
            """
            UPDATE lane SET head = (
              SELECT min(rank) FROM task WHERE task.lane = lane.id AND \(TaskRow.isReady))
            WHERE id = $1 RETURNING head
            """,
            [lane.lane]
        )?[0]
        if head ?? .max > lane.head { hasProgressed = true }
        return taken
    }

    /// Counts jobs that were claimed against what is left and what the queue allows.
    private mutating func note(taken: Int, from lane: OpenLane) throws {
        left.limit -= taken
        if lane.isBackground { left.background -= taken }
        if let room = rooms[lane.queue] { rooms[lane.queue] = room - taken }
        hasProgressed = hasProgressed || taken > 0
        if lane.hasRate, taken > 0 { try db.spend(taken, .queue, lane.queue) }
    }

    // MARK: - Poison jobs

    mutating func poison() throws -> [ClaimedJob] {
        try db.lock(.limitedClaim)
        // One by one, because each may fill its queue or key.
        while left.limit > 0, let next = try db.poisonJob(among: left.queues, left.backgroundJobs) {
            let locked = "SELECT id FROM task WHERE id = $1 AND \(TaskRow.isAvailable) FOR UPDATE SKIP LOCKED"
            // Another transaction changes it, and wakes workers.
            guard try db.row(locked, [next.job]) != nil else { break }
            let token = Self.newToken()
            let rows = try db.query(
                "SELECT * FROM take_jobs($1::bigint[], $2, $3, $4)",
                [SQLArray([next.job]), token, left.worker, db.now]
            )
            try add(rows, of: token, from: (next.queue, next.queueName, next.isBackground, next.key))
            if !rows.isEmpty {
                try db.spend(1, .queue, next.queue)
                if next.key != 0 { try db.spend(1, .key, next.key) }
            }
            left.limit -= 1
            if next.isBackground { left.background -= 1 }
        }
        isForgetting = try !jobs.isEmpty && db.isForgetting()
        return jobs
    }

    // MARK: - Claimed jobs

    /// Where jobs are claimed from.
    private typealias Origin = (queue: Int64, queueName: String, isBackground: Bool, key: Int64)

    /// What the tokens of jobs that are claimed by one statement begin with. With the place of a job it has no more than
    /// 15 bytes, so that such a text needs no memory of its own.
    private static func newToken() -> String { String(UInt64.random(in: 0..<3_656_158_440_062_976), radix: 36) }

    /// Adds the rows of `take_jobs` or `claim_lane`, in the order of their places, which are those by rank. `token` is what
    /// their tokens begin with.
    private mutating func add(_ rows: [QueueRow], of token: String, from origin: Origin) throws {
        let placed = try rows.map { row in (place: try row["place"] as Int, row: row) }.sorted { $0.place < $1.place }
        let (failures, uploads) = (try db.lastFailures(of: rows), try db.uploads(of: rows))
        for (place, row) in placed {
            let task = TaskRow(id: try row["id"], queue: origin.queue, key: origin.key)
            let attempt: Int = try row["attempt"]
            guard let request: String = try row["request"], let createdAt: Int64 = try row["created_at"] else {
                try db.delete(task)
                db.move(task, from: .available, to: nil)
                lost.append(LostJob(deleted: task.id, from: origin.queueName, attempt: attempt - 1))
                continue
            }
            db.move(task, from: .available, to: .running)
            let uploadID: Int64? = try row["upload"]
            let upload = uploadID.flatMap { uploads[$0] }
            jobs.append(
                ClaimedJob(
                    claim: Claim(jobID: task.id, token: "\(token)-\(place)"),
                    request: request,
                    refresh: Refresh(code: try row["refresh"]),
                    queue: origin.queueName,
                    isBackground: origin.isBackground,
                    attempt: attempt,
                    maxAttempts: try row["max_attempts"],
                    crashCount: try row["crash_count"],
                    previousFailure: failures[task.id],
                    uploadedBytes: uploadID == nil || upload?.source != nil ? nil : upload?.bytes ?? 0,
                    uploadedSource: upload?.source,
                    createdAt: Date(milliseconds: createdAt),
                    availableAt: Date(milliseconds: try row["due"]),
                    begun: FetchTicket(
                        sourceSeen: try row["seen"],
                        after: try row["fetch_after"],
                        isFirstAttempt: try row["tries"] as Int == 1
                    )
                )
            )
        }
    }
}

extension PostgreSQLTransaction {
    /// Moves the costs of attempts into the rows of their lanes, but for those that others have locked.
    func foldCosts() throws {
        // A lane of no key and tenant has no head of its own: here it is noted that nothing waits there any more.
        let emptied = Connection.Statement(
            """
            UPDATE lane SET head = NULL FROM queue
            WHERE queue.fair AND lane.queue = queue.id AND lane.tenant = 0 AND lane.key = 0 AND lane.head IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM task WHERE task.lane = lane.id AND task.\(TaskRow.isReady))
            """
        )
        let columns = Share.correction(
            cost: "sums.cost",
            charged: "sums.charged",
            mean: "(sums.cost / sums.jobs)",
            pace: "(1 - power(\(1 - Share.pace(of: 1)), sums.jobs))",
            now: "CAST($1 AS bigint)"
        )
        let folding = Connection.Statement(
            """
            WITH free AS MATERIALIZED (
                SELECT lane.id FROM (SELECT DISTINCT lane FROM lane_cost) AS charged CROSS JOIN LATERAL (
                  SELECT id FROM lane WHERE id = charged.lane FOR UPDATE SKIP LOCKED) AS lane),
              gone AS (DELETE FROM lane_cost USING free WHERE lane_cost.lane = free.id RETURNING lane, cost, charged),
              sums AS (
                SELECT lane, sum(cost) AS cost, sum(charged) AS charged, count(*) AS jobs FROM gone GROUP BY lane)
            UPDATE lane SET \(columns) FROM sums
            WHERE lane.id = ANY(ARRAY(SELECT lane FROM sums)) AND sums.lane = lane.id AND lane.used IS NOT NULL
            RETURNING lane.id, lane.queue, lane.tenant, sums.cost / \(Share.weight) - sums.charged AS more,
              lane.tenant <> 0 AND EXISTS (SELECT 1 FROM lane AS other
                WHERE other.queue = lane.queue AND other.tenant = lane.tenant AND other.id <> lane.id) AS has_siblings
            """,
            [now]
        )
        let moved = try query([emptied, folding])[1].rows.filter { try $0["has_siblings"] }
        guard !moved.isEmpty else { return }
        try execute(
            """
            WITH moved AS MATERIALIZED (
                SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::double precision[])
                  AS moved(lane, queue, tenant, more)),
              sums AS (SELECT queue, tenant, sum(more) AS more FROM moved GROUP BY queue, tenant),
              free AS MATERIALIZED (
                SELECT lane.id, sums.more FROM sums CROSS JOIN LATERAL (
                  SELECT id FROM lane WHERE id = ANY(ARRAY(\(Share.lanes(queue: "sums.queue", tenant: "sums.tenant"))))
                  FOR UPDATE SKIP LOCKED) AS lane)
            UPDATE lane SET charged_at = $1, used = \(Share.bounded("""
                (lane.used + free.more - coalesce((SELECT more FROM moved WHERE moved.lane = lane.id), 0))
                """)) FROM free WHERE free.id = lane.id AND lane.used IS NOT NULL
            """,
            [
                now, SQLArray(try moved.map { try $0["id"] as Int64 }),
                SQLArray(try moved.map { try $0["queue"] as Int64 }),
                SQLArray(try moved.map { try $0["tenant"] as Int64 }),
                SQLArray(try moved.map { try $0["more"] as Double? }),
            ]
        )
    }
}

/// A lane that a claim may take jobs from.
struct OpenLane {
    let lane: Int64
    let key: Int64
    let tenant: Int64
    let queue: Int64
    let queueName: String
    let isBackground: Bool
    /// The number of further jobs that the queue's limit allows; nil: any number.
    let room: Int?
    let hasRate: Bool
    /// A lower bound of the lowest rank in it.
    var head: Int64
    /// The rank by which it is its turn: the same, or in a fair queue that of the queue's first job.
    var front: Int64
    /// What it has had, in a fair queue.
    var share: Share?
    /// Whether it has no key and is its tenant's only one in the queue.
    let isAlone: Bool
    /// The claim has dealt with the ranks up to this one. At first there was nothing below the head when the lanes were
    /// looked at, so that the claim need not pass the dead entries that others have left there.
    var beyond: Int64

    /// Whether claiming from it depends on what other claims have taken.
    var isLimited: Bool { hasHead || room != nil || hasRate || share != nil }

    /// Whether its row has its lowest rank, which a claim raises.
    var hasHead: Bool { key != 0 || tenant != 0 }

    /// Background queues come after all others.
    static func precedes(_ first: OpenLane, _ second: OpenLane) -> Bool {
        if first.isBackground != second.isBackground { return second.isBackground }
        let order = (first.front, first.share?.used ?? 0, first.head, first.lane)
        return order < (second.front, second.share?.used ?? 0, second.head, second.lane)
    }

    /// What ``init(_:)`` reads.
    static let columns =
        "lane, key, tenant, queue, name, background, room, rated, place, front, used, mean, weight, alone"

    init(_ row: QueueRow) throws {
        (lane, key, tenant, queue) = try (row["lane"], row["key"], row["tenant"], row["queue"])
        (queueName, isBackground) = try (row["name"], row["background"])
        (room, hasRate, head, front) = try (row["room"], row["rated"], row["place"], row["front"])
        share = try Share(row)
        isAlone = try row["alone"] as Bool? ?? true
        beyond = head - 1
    }
}
