package import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

extension SQLiteStore {
    package func note(hooks: [String], of worker: String) async throws(StoreError) {
        try await commit { db in
            try db.execute(sql: "DELETE FROM worker_hook WHERE worker = ?", arguments: [worker])
            for hook in hooks {
                try db.execute(
                    sql: "INSERT INTO worker_hook(worker, hook) SELECT id, ? FROM worker WHERE id = ?",
                    arguments: [hook, worker]
                )
            }
        }
    }

    package func claimDeliveries(
        _ room: [String: Int],
        for worker: String
    ) async throws(StoreError) -> [ClaimedDelivery] {
        let now = nowMilliseconds
        // Most looks find nothing, and need no write lock.
        let due = try await read { db in
            let look = try db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM delivery WHERE hook = ? AND status = 0 AND at <= ?)"
            )
            return try room.filter { try Bool.fetchOne(look, arguments: [$0.key, now]) == true }
        }
        guard !due.isEmpty else { return [] }
        return try await commit { db in
            try due.sorted { $0.key < $1.key }.flatMap { hook, limit in
                try Self.claim(hook, limit, for: worker, db)
            }
        }
    }

    private static func claim(
        _ hook: String,
        _ limit: Int,
        for worker: String,
        _ db: SQLiteTransaction
    ) throws -> [ClaimedDelivery] {
        let find = try db.cachedStatement(
            sql: """
                SELECT seq, id, job_id, state, ended_at, failure, since, tries, failures
                FROM delivery INDEXED BY delivery_due WHERE hook = ? AND status = 0 AND at <= ? ORDER BY at LIMIT ?
                """
        )
        let claim = try db.cachedStatement(
            sql: "UPDATE delivery SET status = 1, worker = ?, tries = tries + 1 WHERE seq = ?"
        )
        return try Row.fetchAll(find, arguments: [hook, db.now, limit]).map { row in
            try claim.execute(arguments: [worker, row[0] as Int64])
            return ClaimedDelivery(
                number: row[0],
                id: row[1],
                worker: worker,
                jobID: row[2],
                hook: hook,
                end: (
                    try JobState(code: row[3]), Date(milliseconds: row[4]), try JobFailure.from(stored: row[5])
                ),
                since: Date(milliseconds: row[6]),
                attempt: row[7] + 1,
                failures: row[8]
            )
        }
    }

    package func message(of delivery: ClaimedDelivery) async throws(StoreError) -> HookDelivery {
        try await read { db in
            let look = try db.cachedStatement(
                sql: """
                    SELECT named_by FROM job_hook WHERE job_id = ?1 AND hook = ?2 AND named_by <> ?1 ORDER BY named_by
                    """
            )
            return HookDelivery(
                id: delivery.id,
                hook: delivery.hook,
                job: try Self.job(delivery.jobID, attempts: nil, db),
                supersededJobs: try Int64.fetchAll(look, arguments: [delivery.jobID, delivery.hook]),
                end: (delivery.state, delivery.endedAt, delivery.failure)
            )
        }
    }

    package func settle(_ delivery: ClaimedDelivery, as end: DeliveryEnd) async throws(StoreError) {
        let now = nowMilliseconds
        try await commit(.begun) { db in
            let change: (set: String, StatementArguments) =
                switch end {
                case .delivered: ("status = 2, at = ?, trouble = NULL", [now])
                case .retry(let time, let trouble):
                    ("status = 0, failures = failures + 1, at = ?, trouble = ?", [time.milliseconds, trouble])
                case .giveUp(let trouble): ("status = 3, failures = failures + 1, at = ?, trouble = ?", [now, trouble])
                case .release: ("status = 0", [])
                }
            let settle = try db.cachedStatement(
                sql: """
                    UPDATE delivery SET worker = NULL, \(change.set)
                    WHERE seq = ? AND status = 1 AND worker = ? AND tries = ?
                    """
            )
            try settle.execute(arguments: change.1 + [delivery.number, delivery.worker, delivery.attempt])
            guard db.changesCount == 1 else { throw StoreError.leaseLost(jobID: delivery.jobID) }
        }
    }

    package func retryDeliveries(_ choice: DeliveryChoice) async throws(StoreError) -> Int {
        let now = nowMilliseconds
        return try await commit { db in
            let (condition, values): (String, [StatementArguments]) =
                switch choice {
                case .all: ("true", [[]])
                case .hook(let hook): ("hook = ?", [[hook]])
                case .ids(let ids): ("id = ?", ids.map { [$0] })
                }
            let retry = try db.cachedStatement(
                sql: """
                    UPDATE delivery SET status = 0, at = ?, since = ?, failures = 0
                    WHERE status IN (0, 3) AND \(condition)
                    """
            )
            return try values.reduce(0) { count, value in
                try retry.execute(arguments: [now, now] + value)
                return count + db.changesCount
            }
        }
    }

    package func setHook(
        _ hook: String?,
        ofQueue queue: String,
        unknown: UnknownQueue
    ) async throws(StoreError) {
        try await commit { db in
            let id = try Self.require(queue, unknown, db)
            try db.execute(sql: "UPDATE queue SET hook = ? WHERE id = ?", arguments: [hook, id])
        }
    }
}
