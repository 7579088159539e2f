package import CameoModel
package import CameoStore

// DESIGN. A queue that is fair takes its next job from the lane that has had least, by the weight of its tenant: `used`, in
// milliseconds of a processor (stride scheduling; Waldspurger and Weihl, 1995). A claim charges what the lane's recent
// jobs have cost on average, and the end of the attempt corrects that; an attempt of which nothing is known stays at the
// average. `share_floor` of the queue is what the lane had had that was claimed from last. A lane that had nothing waiting
// begins there at least, so that nobody saves up; one that has had more keeps that for ten minutes. Lanes of queues that
// are not fair have no `used`, and pay for none of this.
//
// A tenant with several keys has one lane of each in a queue. Its account is the lane of its first key; the others have a
// copy while they wait, so that an index has them in order. Who changes one changes those, too.

/// What a lane of a fair queue has had.
package struct Share: Sendable {
    /// How long a lane keeps what it has had beyond the others, in milliseconds.
    package static let memory: Int64 = 600_000
    /// The weight of the latest job in the mean.
    private static let pace = 0.125
    /// No lane has had more, in milliseconds: thirty thousand years.
    private static let most = 1e15

    /// In milliseconds of a processor, divided by the weight.
    package var used: Double
    /// What a job is charged when it is claimed, in the same unit.
    package let charge: Double

    /// Reads the columns `used`, `mean` and `weight`; nil for a lane of another queue. Another program may have written anything.
    package init?(_ row: QueueRow) throws {
        guard let used: Double = try row["used"] else { return nil }
        self.used = used >= 0 ? min(used, Self.most) : 0
        let (mean, weight): (Double, Double) = try (row["mean"], row["weight"])
        charge = (mean >= Cost.ofJob ? min(mean, Cost.most) : Cost.ofJob) / (weight >= 0.01 ? weight : 1)
    }

    /// How many jobs it may have before it has had more than the next lane.
    package func jobs(before next: Double?) -> Int {
        guard let next else { return Int(Int32.max) }
        return 1 + Int(min(max(0, (next - used) / charge), Double(Int32.max / 2)))
    }

    /// The weight of a lane's tenant, as SQL.
    package static let weight = "coalesce((SELECT weight FROM tenant WHERE tenant.id = lane.tenant), 1.0)"

    /// A number that a lane may have, as SQL.
    package static func bounded(_ number: String) -> String {
        "CASE WHEN \(number) BETWEEN 0 AND \(most) THEN \(number) WHEN \(number) > \(most) THEN \(most) ELSE 0 END"
    }

    /// Selects the lanes of a tenant whose rows have what it has had: those that wait, and its account.
    package static func lanes(queue: String, tenant: String) -> String {
        """
        SELECT id FROM lane WHERE queue = \(queue) AND tenant = \(tenant) AND head IS NOT NULL AND used IS NOT NULL
        UNION ALL SELECT id FROM (
          SELECT id FROM lane WHERE queue = \(queue) AND tenant = \(tenant) ORDER BY key LIMIT 1) AS account
        """
    }

    /// What a lane has had that begins to wait, as SQL; `now` is the time in milliseconds since 1970.
    package static func beginning(at now: String) -> String {
        """
        (SELECT CASE WHEN account.used > share_floor AND account.charged_at > \(now) - \(memory) THEN account.used
            ELSE share_floor END
          FROM queue CROSS JOIN (
            SELECT used, charged_at FROM lane AS own WHERE own.queue = lane.queue AND own.tenant = lane.tenant
            ORDER BY own.key LIMIT 1) AS account
          WHERE queue.id = lane.queue)
        """
    }

    /// What a new lane has had, as SQL: what its tenant has in the queue; NULL in a queue that is not fair.
    package static func ofNewLane(queue: String, tenant: String) -> String {
        """
        (SELECT coalesce((
            SELECT used FROM lane WHERE lane.queue = queue.id AND lane.tenant = \(tenant) ORDER BY key LIMIT 1), share_floor)
          FROM queue WHERE queue.id = \(queue) AND fair)
        """
    }

    /// Enters the lanes of fair queues that are not, as SQL: they came by an import, or another program changed them.
    package static let entering = """
        UPDATE lane SET used = (SELECT share_floor FROM queue WHERE queue.id = lane.queue)
        WHERE used IS NULL AND queue IN (SELECT id FROM queue WHERE fair)
        """

    /// Corrects what the row `lane` has had, as the columns of an UPDATE. Its attempts have cost `cost` together, `mean` on
    /// average, and were charged `charged`; `pace` is how much they count.
    package static func correction(cost: String, charged: String, mean: String, pace: String, now: String) -> String {
        let minute = "(\(now) / 60000)"
        let isThisMinute = "lane.charged_at / 60000 = \(minute)"
        return """
            used = \(bounded("(lane.used + \(cost) / \(weight) - \(charged))")),
              mean = lane.mean + (\(mean) - lane.mean) * \(pace), spent = \(bounded("(lane.spent + \(cost))")),
              spent_minute = CASE WHEN \(isThisMinute) THEN lane.spent_minute ELSE 0 END + \(cost),
              spent_before = CASE WHEN \(isThisMinute) THEN lane.spent_before
                WHEN lane.charged_at / 60000 = \(minute) - 1 THEN lane.spent_minute ELSE 0 END,
              charged_at = \(now)
            """
    }

    /// How much the mean of so many jobs counts.
    package static func pace(of jobs: Int) -> Double {
        (0..<min(jobs, 100)).reduce(0) { counted, _ in counted + (1 - counted) * pace }
    }
}

/// What an attempt costs its tenant.
package enum Cost {
    /// What the worker itself spends on each job, in milliseconds of a processor: to claim, fetch and settle it.
    package static let ofJob = 3.0
    /// How many bytes it takes over, checks and writes in a millisecond.
    package static let bytesOfAMillisecond = 400_000.0

    /// The most that an attempt can cost, in milliseconds: eleven days.
    package static let most = 1e9

    /// In milliseconds of a processor; nil if nothing is known of the attempt.
    package static func of(_ timings: AttemptTimings) -> Double? {
        guard timings != AttemptTimings() else { return nil }
        let bytes = Double((timings.sourceBytes ?? 0) + (timings.outputBytes ?? 0))
        return min(max(0, Double(timings.cpuMilliseconds ?? 0) + bytes / bytesOfAMillisecond) + ofJob, most)
    }
}

extension QueueTransaction {
    /// Records what an attempt has cost, if its tenant was charged for it.
    package func settleCharge(of task: TaskRow, _ timings: AttemptTimings) {
        guard let charged = task.charged, let cost = Cost.of(timings) else { return }
        ledger.costs.append((task, cost, charged))
    }

    /// Makes a queue fair, or ordered by age alone. Then its lanes forget what they have had.
    func setFair(_ isFair: Bool, queue: Int64) throws {
        // Another transaction must not make a lane meanwhile, or claim from one.
        guard try lockNames() else {
            throw StoreError.refused(reason: "others hold the queues for long, such as an import: try again")
        }
        try holdClaims()
        let change = "UPDATE queue SET fair = ?2, share_floor = 0 WHERE id = ?1 AND fair <> ?2"
        guard try execute(change, [queue, isFair]) == 1 else { return }
        // In the order in which others lock them.
        let look = "SELECT id FROM lane WHERE queue = ?1 ORDER BY id \(dialect.locking)"
        guard let _: Int64 = try value(look, [queue]) else { return }
        try execute("UPDATE lane SET used = \(isFair ? "0" : "NULL") WHERE queue = ?1", [queue])
        guard !dialect.everyLaneHasHead else { return }
        try execute("UPDATE lane SET head = NULL WHERE queue = ?1 AND key = 0 AND tenant = 0", [queue])
    }

    func setWeight(_ weight: Double, ofTenant name: String) throws {
        try execute("UPDATE tenant SET weight = ?2 WHERE id = ?1", [try tenant(name), weight])
    }

    /// The tenants of queues that have jobs, or had some in the last minute; those that cost most, also of before.
    package func tenants(_ choice: TenantChoice) throws -> TenantList {
        let time = "CAST(?1 AS bigint)"
        let elapsed = "(60000 - \(time) % 60000) / 60000.0"
        // The last minute, as if the one before the clock's minute had been spent evenly.
        let recent = """
            CASE charged_at / 60000 WHEN \(time) / 60000 THEN spent_minute + spent_before * \(elapsed)
              WHEN \(time) / 60000 - 1 THEN spent_minute * \(elapsed) ELSE 0.0 END
            """
        let (order, former) =
            switch choice.order {
            case .longestWaiting: ("first IS NULL, first, recent DESC, tenant", "")
            case .mostSpent: ("spent DESC, tenant", "OR spent > 0")
            }
        let rows = try query(
            """
            WITH busy AS (
                SELECT queue, tenant, count(*) AS running FROM task \(dialect.indexed(by: "task_running"))
                WHERE \(TaskRow.isRunning) AND worker IS NOT NULL GROUP BY queue, tenant),
              summed AS (
                SELECT queue, tenant, min(head) AS first, sum(\(recent)) AS recent, sum(spent) AS spent FROM lane
                GROUP BY queue, tenant),
              placed AS (
                SELECT *, row_number() OVER (PARTITION BY queue ORDER BY tenant = 0, \(order)) AS place,
                  sum(recent) OVER (PARTITION BY queue) AS recent_of_queue, sum(spent) OVER (PARTITION BY queue) AS spent_of_queue
                FROM (
                  SELECT summed.*, coalesce((
                      SELECT running FROM busy WHERE busy.queue = summed.queue AND busy.tenant = summed.tenant), 0) AS running
                  FROM summed) AS found
                WHERE first IS NOT NULL OR recent > 0 OR running > 0 \(former))
            SELECT queue.name AS queue, tenant.name AS tenant, tenant.weight AS weight, recent, spent, recent_of_queue,
              spent_of_queue, running,
              (SELECT count(*) FROM lane JOIN task ON task.lane = lane.id
                WHERE lane.queue = placed.queue AND lane.tenant = placed.tenant AND task.\(TaskRow.isReady)) AS waiting,
              (SELECT min(task.due) FROM lane JOIN task ON task.lane = lane.id AND task.rank = lane.head
                WHERE lane.queue = placed.queue AND lane.tenant = placed.tenant AND task.\(TaskRow.isReady)) AS oldest
            FROM placed JOIN queue ON queue.id = placed.queue JOIN tenant ON tenant.id = placed.tenant
            WHERE place <= CAST(?2 AS bigint) AND (queue.fair OR ?3)
            ORDER BY queue.name, place
            """,
            [now, choice.limit ?? Int(Int32.max), !choice.ofFairQueues]
        )
        var list = TenantList()
        for row in rows {
            let queue: String = try row["queue"]
            let (recent, total): (Double, Double) = try (row["recent"], row["recent_of_queue"])
            let oldest: Int64? = try row["oldest"]
            list.cpuSeconds[queue] = try row["spent_of_queue"] as Double / 1_000
            list.tenants.append(
                StatusReport.Tenant(
                    tenant: try row["tenant"],
                    queue: queue,
                    waiting: try row["waiting"],
                    running: try row["running"],
                    oldestWaitingSeconds: oldest.map { Double(max(0, now - $0)) / 1_000 },
                    weight: try row["weight"],
                    share: total > 0 ? recent / total : nil,
                    cpuSeconds: try row["spent"] as Double / 1_000
                )
            )
        }
        return list
    }
}
