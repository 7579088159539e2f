package import CameoModel
internal import CameoQueue
package import CameoStore
internal import Foundation

extension PostgreSQLStore {
    package func note(hooks: [String], of worker: String) async throws(StoreError) {
        try await commit { db in
            try db.execute("DELETE FROM worker_hook WHERE worker = $1", [worker])
            try db.execute(
                """
                INSERT INTO worker_hook(worker, hook)
                SELECT DISTINCT worker.id, hook FROM worker, unnest($2::text[]) AS hook WHERE worker.id = $1
                """,
                [worker, SQLArray(hooks)]
            )
        }
    }

    package func claimDeliveries(
        _ room: [String: Int],
        for worker: String
    ) async throws(StoreError) -> [ClaimedDelivery] {
        // Most looks find nothing, and need no transaction that writes.
        let due = try await read { db in
            let hooks: [String] = try db.column(
                """
                SELECT hook FROM unnest($1::text[]) AS asked(hook)
                WHERE EXISTS (SELECT 1 FROM delivery WHERE delivery.hook = asked.hook AND status = 0 AND at <= $2)
                """,
                [SQLArray(room.filter { $0.value > 0 }.keys), db.now]
            )
            return room.filter { hooks.contains($0.key) }
        }
        guard !due.isEmpty else { return [] }
        return try await commit { db in
            try due.sorted { $0.key < $1.key }.flatMap { hook, limit in
                try Self.claim(hook, limit, for: worker, db)
            }
        }
    }

    /// Claims the oldest deliveries of a hook that no other worker is claiming.
    private static func claim(
        _ hook: String,
        _ limit: Int,
        for worker: String,
        _ db: Database
    ) throws -> [ClaimedDelivery] {
        let rows = try db.query(
            """
            WITH due AS MATERIALIZED (
              SELECT seq FROM delivery WHERE hook = $1 AND status = 0 AND at <= $2 ORDER BY at, seq LIMIT $3
              FOR UPDATE SKIP LOCKED)
            UPDATE delivery SET status = 1, worker = $4, tries = tries + 1 FROM due WHERE delivery.seq = due.seq
            RETURNING delivery.seq, id, job_id, state, ended_at, failure, since, tries, failures, at
            """,
            [hook, db.now, limit, worker]
        )
        return try rows.map { row in try (row[9] as Int64, ClaimedDelivery(row, hook: hook, worker: worker)) }
            .sorted { ($0.0, $0.1.number) < ($1.0, $1.1.number) }.map(\.1)
    }

    package func message(of delivery: ClaimedDelivery) async throws(StoreError) -> HookDelivery {
        try await read { db in
            let superseded: [Int64] = try db.column(
                "SELECT named_by FROM job_hook WHERE job_id = $1 AND hook = $2 AND named_by <> $1 ORDER BY named_by",
                [delivery.jobID, delivery.hook]
            )
            return HookDelivery(
                id: delivery.id,
                hook: delivery.hook,
                job: try Self.job(delivery.jobID, attempts: nil, db),
                supersededJobs: superseded,
                end: (delivery.state, delivery.endedAt, delivery.failure)
            )
        }
    }

    package func settle(_ delivery: ClaimedDelivery, as end: DeliveryEnd) async throws(StoreError) {
        try await commit(.begun) { db in
            let fence: [(any SQLBindable)?] = [delivery.number, delivery.worker, delivery.attempt]
            let change: (set: String, values: [(any SQLBindable)?]) =
                switch end {
                case .delivered: ("status = 2, at = $4, trouble = NULL", [db.now])
                case .retry(let time, let trouble):
                    ("status = 0, failures = failures + 1, at = $4, trouble = $5", [time.milliseconds, trouble])
                case .giveUp(let trouble):
                    ("status = 3, failures = failures + 1, at = $4, trouble = $5", [db.now, trouble])
                case .release: ("status = 0", [])
                }
            let count = try db.execute(
                """
                UPDATE delivery SET worker = NULL, \(change.set)
                WHERE seq = $1 AND status = 1 AND worker = $2 AND tries = $3
                """,
                fence + change.values
            )
            guard count == 1 else { throw StoreError.leaseLost(jobID: delivery.jobID) }
        }
    }

    package func retryDeliveries(_ choice: DeliveryChoice) async throws(StoreError) -> Int {
        let condition: (sql: String, values: [(any SQLBindable)?]) =
            switch choice {
            case .all: ("true", [])
            case .hook(let hook): ("hook = $2", [hook])
            case .ids(let ids):
                (
                    "id = ANY($2::text[])",
                    [SQLArray(ids)]
                )
            }
        return try await commit { db in
            try db.execute(
                """
                UPDATE delivery SET status = 0, at = $1, since = $1, failures = 0
                WHERE status IN (0, 3) AND \(condition.sql)
                """,
                [db.now] + condition.values
            )
        }
    }

    package func setHook(_ hook: String?, ofQueue queue: String, unknown: UnknownQueue) async throws(StoreError) {
        try await commit { db in
            let id = try Self.require(queue, unknown, db)
            try db.execute("UPDATE queue SET hook = $1 WHERE id = $2", [hook, id])
        }
    }
}

extension ClaimedDelivery {
    fileprivate init(_ row: Row, hook: String, worker: String) throws {
        try self.init(
            number: row[0],
            id: row[1],
            worker: worker,
            jobID: row[2],
            hook: hook,
            end: (JobState(code: row[3]), Date(milliseconds: row[4]), JobFailure.from(stored: row[5])),
            since: Date(milliseconds: row[6]),
            attempt: row[7],
            failures: row[8]
        )
    }
}
