package import CameoModel
package import CameoStore
internal import Foundation

/// The tables of what hooks are told: the ends of jobs, and those of batches. They have the same columns for that.
package enum DeliveryTable: String, CaseIterable, Sendable {
    case ofJobs = "delivery"
    case ofBatches = "batch_seal"
}

// The rows of hooks that change together with their jobs.
extension QueueTransaction {
    /// Records the hook that a job's request names, if any, and that of its queue; nil: that was done before.
    package func note(hook: String?, ofQueue queue: Int64? = nil, for job: Int64) throws {
        try execute(
            """
            INSERT INTO job_hook(job_id, hook, named_by)
            SELECT ?1, hook, ?1 FROM (
              SELECT hook FROM queue WHERE id = ?2 UNION SELECT CAST(?3 AS text)) AS named
            WHERE hook IS NOT NULL ON CONFLICT DO NOTHING
            """,
            [job, queue, hook]
        )
    }

    /// Enters a delivery of a job's end for each of its hooks, or for one of them.
    func deliver(_ end: End, of job: Int64, only hook: String? = nil) throws {
        try execute(
            """
            INSERT INTO delivery(job_id, hook, state, ended_at, failure, at, since)
            SELECT job_id, hook, CAST(?2 AS smallint), CAST(?3 AS bigint), \(dialect.json("?4")),
              CAST(?3 AS bigint), CAST(?3 AS bigint)
            FROM (SELECT DISTINCT job_id, hook FROM job_hook
              WHERE job_id = ?1 AND (CAST(?5 AS text) IS NULL OR hook = ?5)) AS named
            """,
            [job, end.state.code, now, try end.failure?.stored, hook]
        )
    }

    /// Makes a worker's claimed deliveries wait again.
    package func releaseDeliveries(of worker: String) throws {
        for table in DeliveryTable.allCases.map(\.rawValue) {
            let count = try execute(
                """
                UPDATE \(table) \(dialect.indexed(by: "\(table)_worker")) SET status = 0, worker = NULL
                WHERE worker = ?1 AND worker IS NOT NULL
                """,
                [worker]
            )
            if count > 0 { wakeWorkers() }
        }
    }

    /// Claims the oldest deliveries of a hook that no other worker is claiming.
    fileprivate func claimDeliveries(of hook: String, limit: Int, for worker: String) throws -> [ClaimedDelivery] {
        try DeliveryTable.allCases.reduce(into: []) { claimed, table in
            claimed += try claimDeliveries(of: hook, in: table, limit: limit - claimed.count, for: worker)
        }
    }

    private func claimDeliveries(
        of hook: String,
        in table: DeliveryTable,
        limit: Int,
        for worker: String
    ) throws -> [ClaimedDelivery] {
        let what = table == .ofJobs ? "job_id, state, ended_at, failure" : "\(dialect.text("report")) AS report"
        let name = table.rawValue
        let rows = try query(
            """
            SELECT seq, id, \(what), since, tries, failures
            FROM \(name) \(dialect.indexed(by: "\(name)_due")) WHERE hook = ?1 AND status = 0 AND at <= ?2
            ORDER BY at, seq LIMIT ?3 \(dialect.skippingLocked)
            """,
            [hook, now, limit]
        )
        let numbers: [Int64] = try rows.map { try $0["seq"] }
        try execute(
            "UPDATE \(name) SET status = 1, worker = ?1, tries = tries + 1 WHERE seq \(dialect.isIn("?2", .integers))",
            [worker, numbers]
        )
        return try rows.map { row in
            let end: ClaimedDelivery.End =
                switch table {
                case .ofBatches: .batch(try BatchEnd(stored: row["report"]))
                case .ofJobs:
                    .job(
                        try row["job_id"],
                        state: try JobState(code: row["state"]),
                        at: Date(milliseconds: try row["ended_at"]),
                        failure: try JobFailure.from(stored: row["failure"])
                    )
                }
            return ClaimedDelivery(
                number: try row["seq"],
                id: try row["id"],
                worker: worker,
                hook: hook,
                end: end,
                since: Date(milliseconds: try row["since"]),
                attempt: try row["tries"] + 1,
                failures: try row["failures"]
            )
        }
    }

    /// The distinct names in a table of deliveries, found by one step in the index for each.
    func namesOfDeliveries(in table: DeliveryTable) -> String {
        let name = table.rawValue
        return """
            WITH RECURSIVE name(hook) AS (
              SELECT min(hook) FROM \(name) WHERE hook IS NOT NULL
              UNION ALL SELECT (SELECT min(hook) FROM \(name) WHERE \(name).hook > name.hook) FROM name
                WHERE name.hook IS NOT NULL)
            SELECT hook FROM name WHERE hook IS NOT NULL
            """
    }

    fileprivate var namesOfAllDeliveries: String {
        DeliveryTable.allCases.map { "SELECT hook FROM (\(namesOfDeliveries(in: $0))) AS \($0)" }.joined(
            separator: " UNION "
        )
    }

    /// How many deliveries to each hook were given up; nil if none were.
    func undelivered() throws -> [StatusReport.Undelivered]? {
        let rows = try query(
            """
            SELECT hook, failed FROM (
              SELECT hook, \(DeliveryTable.allCases.map(\.rawValue).map { table in
                "(SELECT count(*) FROM \(table) \(dialect.indexed(by: "\(table)_due")) WHERE \(table).hook = names.hook AND status = 3)"
              }.joined(separator: " + ")) AS failed
              FROM (\(namesOfAllDeliveries)) AS names) AS counted
            WHERE failed > 0 ORDER BY hook
            """
        )
        guard !rows.isEmpty else { return nil }
        return try rows.map { StatusReport.Undelivered(hook: try $0["hook"], count: try $0["failed"]) }
    }

    fileprivate func report(_ hook: String, failures limit: Int) throws -> HookReport {
        var counts = [0, 0, 0, 0]
        var (oldest, failures, troubles) = ([Int64](), [(at: Int64, row: QueueRow)](), [(at: Int64, text: String)]())
        for table in DeliveryTable.allCases {
            let deliveries = "FROM \(table.rawValue) WHERE hook = ?1"
            for row in try query("SELECT status, count(*) AS ends \(deliveries) GROUP BY status", [hook]) {
                let status: Int = try row["status"]
                // A seal that is open.
                if table == .ofBatches, status == 4 { continue }
                guard counts.indices.contains(status) else {
                    throw StoreError.failed("a delivery has the status \(status)")
                }
                counts[status] += try row["ends"]
            }
            let first: Int64? = try value("SELECT min(ended_at) \(deliveries) AND status = 0", [hook])
            oldest += [first].compactMap(\.self)
            let what = table == .ofJobs ? "job_id, NULL AS batch" : "NULL AS job_id, batch"
            failures += try query(
                """
                SELECT id, \(what), tries, at, trouble \(deliveries) AND status = 3 ORDER BY at DESC, seq DESC LIMIT ?2
                """,
                [hook, limit]
            )
            .map { (try $0["at"], $0) }
            troubles += try query(
                """
                SELECT at, trouble \(deliveries) AND status = 0 AND trouble IS NOT NULL ORDER BY at DESC LIMIT 1
                """,
                [hook]
            )
            .map { (try $0["at"], try $0["trouble"]) }
        }
        var report = HookReport(
            name: hook,
            isKnown: try value("SELECT EXISTS (SELECT 1 FROM worker_hook WHERE hook = ?1)", [hook]) ?? false,
            queues: try column("SELECT name FROM queue WHERE hook = ?1 ORDER BY name", [hook]),
            counts: (counts[0], counts[1], counts[2], counts[3])
        )
        report.oldestWaitingSeconds = oldest.min().map { max(0, (Double(now) - Double($0)) / 1_000) }
        report.trouble = troubles.max { $0.at < $1.at }?.text
        report.failures = try failures.sorted { $0.at > $1.at }.prefix(limit).map { _, row in
            HookReport.Failure(
                id: try row["id"],
                job: try row["job_id"],
                batch: try row["batch"],
                tries: try row["tries"],
                failedAt: Date(milliseconds: try row["at"]),
                reason: try row["trouble"] ?? ""
            )
        }
        return report
    }
}

extension QueueStore {
    package func note(hooks: [String], of worker: String) async throws(StoreError) {
        try await commit(.new) { db in
            try db.execute("DELETE FROM worker_hook WHERE worker = ?1", [worker])
            let entry = "INSERT INTO worker_hook(worker, hook) SELECT id, CAST(?2 AS text) FROM worker WHERE id = ?1"
            for hook in Set(hooks).sorted() { try db.execute(entry, [worker, hook]) }
        }
    }

    package func claimDeliveries(
        _ room: [String: Int],
        for worker: String
    ) async throws(StoreError) -> [ClaimedDelivery] {
        // Most looks find nothing, and need no transaction that writes.
        let due = try await read { db -> [String: Int] in
            let looks = DeliveryTable.allCases.map {
                "EXISTS (SELECT 1 FROM \($0.rawValue) WHERE hook = ?1 AND status = 0 AND at <= ?2)"
            }
            let isDue = "SELECT \(looks.joined(separator: " OR "))"
            return try room.filter { hook, limit in try limit > 0 && db.value(isDue, [hook, db.now]) == true }
        }
        guard !due.isEmpty else { return [] }
        return try await commit(.new) { db in
            try due.sorted { $0.key < $1.key }
                .flatMap { hook, limit in try db.claimDeliveries(of: hook, limit: limit, for: worker) }
        }
    }

    package func message(of delivery: ClaimedDelivery) async throws(StoreError) -> HookMessage {
        switch delivery.end {
        case .batch(let end): return .batch(end)
        case .job(let job, let state, let endedAt, let failure):
            return try await read { db in
                .job(
                    HookDelivery(
                        id: delivery.id,
                        hook: delivery.hook,
                        job: try db.job(job),
                        supersededJobs: try db.column(
                            """
                            SELECT named_by FROM job_hook WHERE job_id = ?1 AND hook = ?2 AND named_by <> ?1 ORDER BY named_by
                            """,
                            [job, delivery.hook]
                        ),
                        end: (state, endedAt, failure)
                    )
                )
            }
        }
    }

    package func settle(_ delivery: ClaimedDelivery, as end: DeliveryEnd) async throws(StoreError) {
        try await commit(.begun) { db in
            let change: (set: String, values: [(any SQLBindable)?]) =
                switch end {
                case .delivered: ("status = 2, at = ?4, trouble = NULL", [db.now])
                case .retry(let time, let trouble):
                    ("status = 0, failures = failures + 1, at = ?4, trouble = ?5", [time.milliseconds, trouble])
                case .giveUp(let trouble):
                    ("status = 3, failures = failures + 1, at = ?4, trouble = ?5", [db.now, trouble])
                case .release: ("status = 0", [])
                }
            let count = try db.execute(
                """
                UPDATE \(delivery.table.rawValue) SET worker = NULL, \(change.set)
                WHERE seq = ?1 AND status = 1 AND worker = ?2 AND tries = ?3
                """,
                [delivery.number, delivery.worker, delivery.attempt] + change.values
            )
            guard count == 1 else { throw StoreError.leaseLost(jobID: delivery.jobID ?? 0) }
        }
    }

    package func hooks(failures limit: Int) async throws(StoreError) -> [HookReport] {
        // Apart, because it counts every delivery that is kept.
        try await readApart { db in
            let names: [String] = try db.column(
                """
                \(db.namesOfAllDeliveries) UNION SELECT hook FROM worker_hook
                UNION SELECT hook FROM queue WHERE hook IS NOT NULL ORDER BY hook
                """
            )
            return try names.map { try db.report($0, failures: limit) }
        }
    }

    package func retryDeliveries(_ choice: DeliveryChoice) async throws(StoreError) -> Int {
        try await commit(.new) { db in
            let condition: (sql: String, values: [(any SQLBindable)?]) =
                switch choice {
                case .all: ("TRUE", [])
                case .hook(let hook): ("hook = ?2", [hook])
                case .ids(let ids): ("id \(db.dialect.isIn("?2", .texts))", [Array(ids)])
                }
            return try DeliveryTable.allCases.reduce(0) { count, table in
                let change = "UPDATE \(table.rawValue) SET status = 0, at = ?1, since = ?1, failures = 0"
                return try count
                    + db.execute("\(change) WHERE status IN (0, 3) AND \(condition.sql)", [db.now] + condition.values)
            }
        }
    }
}

extension ClaimedDelivery {
    fileprivate var table: DeliveryTable { jobID == nil ? .ofBatches : .ofJobs }
}
