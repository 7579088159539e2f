package import CameoModel
package import CameoStore
internal import Foundation

extension QueueTransaction {
    /// Records the hooks that a worker knows, in place of others.
    package func note(hooks: [String], of worker: String) throws {
        try execute("DELETE FROM worker_hook WHERE worker = ?1", [worker])
        for hook in Set(hooks).sorted() {
            try execute(
                "INSERT INTO worker_hook(worker, hook) SELECT id, CAST(?2 AS text) FROM worker WHERE id = ?1",
                [worker, hook]
            )
        }
    }

    /// Those of the hooks for which a delivery is due.
    package func due(_ room: [String: Int]) throws -> [String: Int] {
        try room.filter { hook, limit in
            guard limit > 0 else { return false }
            return try value(
                "SELECT EXISTS (SELECT 1 FROM delivery WHERE hook = ?1 AND status = 0 AND at <= ?2)",
                [hook, now]
            ) ?? false
        }
    }

    /// Claims the oldest deliveries of a hook that no other worker is claiming.
    package func claimDeliveries(of hook: String, limit: Int, for worker: String) throws -> [ClaimedDelivery] {
        let rows = try query(
            """
            SELECT seq, id, job_id, state, ended_at, failure, since, tries, failures
            FROM delivery \(dialect.indexed(by: "delivery_due")) WHERE hook = ?1 AND status = 0 AND at <= ?2
            ORDER BY at, seq LIMIT ?3 \(dialect.skippingLocked)
            """,
            [hook, now, limit]
        )
        let numbers: [Int64] = try rows.map { try $0["seq"] }
        try execute(
            "UPDATE delivery SET status = 1, worker = ?1, tries = tries + 1 WHERE seq \(dialect.isIn("?2", .integers))",
            [worker, numbers]
        )
        return try rows.map { row in
            ClaimedDelivery(
                number: try row["seq"],
                id: try row["id"],
                worker: worker,
                jobID: try row["job_id"],
                hook: hook,
                end: (
                    try JobState(code: row["state"]), Date(milliseconds: try row["ended_at"]),
                    try JobFailure.from(stored: row["failure"])
                ),
                since: Date(milliseconds: try row["since"]),
                attempt: try row["tries"] + 1,
                failures: try row["failures"]
            )
        }
    }

    /// The message of a delivery about a job.
    package func message(of delivery: ClaimedDelivery, job: Job) throws -> HookDelivery {
        HookDelivery(
            id: delivery.id,
            hook: delivery.hook,
            job: job,
            supersededJobs: try column(
                "SELECT named_by FROM job_hook WHERE job_id = ?1 AND hook = ?2 AND named_by <> ?1 ORDER BY named_by",
                [delivery.jobID, delivery.hook]
            ),
            end: (delivery.state, delivery.endedAt, delivery.failure)
        )
    }

    /// - Throws: ``StoreError/leaseLost(jobID:)`` if another worker has the delivery by now.
    package func settle(_ delivery: ClaimedDelivery, as end: DeliveryEnd) throws {
        let change: (set: String, values: [(any SQLBindable)?]) =
            switch end {
            case .delivered: ("status = 2, at = ?4, trouble = NULL", [now])
            case .retry(let time, let trouble):
                ("status = 0, failures = failures + 1, at = ?4, trouble = ?5", [time.milliseconds, trouble])
            case .giveUp(let trouble): ("status = 3, failures = failures + 1, at = ?4, trouble = ?5", [now, trouble])
            case .release: ("status = 0", [])
            }
        let count = try execute(
            """
            UPDATE delivery SET worker = NULL, \(change.set)
            WHERE seq = ?1 AND status = 1 AND worker = ?2 AND tries = ?3
            """,
            [delivery.number, delivery.worker, delivery.attempt] + change.values
        )
        guard count == 1 else { throw StoreError.leaseLost(jobID: delivery.jobID) }
    }

    /// Makes deliveries due again that wait or were given up, and returns their number.
    package func retryDeliveries(_ choice: DeliveryChoice) throws -> Int {
        let condition: (sql: String, values: [(any SQLBindable)?]) =
            switch choice {
            case .all: ("TRUE", [])
            case .hook(let hook): ("hook = ?2", [hook])
            case .ids(let ids): ("id \(dialect.isIn("?2", .texts))", [Array(ids)])
            }
        return try execute(
            """
            UPDATE delivery SET status = 0, at = ?1, since = ?1, failures = 0 WHERE status IN (0, 3) AND \(condition.sql)
            """,
            [now] + condition.values
        )
    }
}
