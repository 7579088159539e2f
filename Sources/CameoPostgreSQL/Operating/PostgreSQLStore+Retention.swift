internal import CameoModel
package import CameoQueue
package import CameoStore
internal import Foundation

// DESIGN. Rows of history that are removed leave dead ones behind, which go with their partition once all of it has
// expired (``Partitions``).
extension PostgreSQLStore {
    package func prune(
        _ retention: Retention,
        in turn: MaintenanceTurn,
        pause: Duration = .zero,
        report: @escaping (Pruned) async -> Void = { _ in }
    ) async throws -> Pruned {
        guard let lease = turn.lock as? MaintenanceLease else {
            throw StoreError.failed("the maintenance lock is not one of this store")
        }
        defer { withExtendedLifetime(turn) {} }
        try await numberChanges()
        return try await PostgreSQLUpkeep(store: self, lease: lease).prune(retention, pause: pause, report: report)
    }
}

private struct PostgreSQLUpkeep: QueueUpkeep {
    let store: PostgreSQLStore
    let lease: MaintenanceLease

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await store.read(body)
    }

    func commit<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        let lease = lease
        return try await store.transaction { db in
            try lease.renew(db)
            return try body(db)
        }
    }

    func acceptArrivals() async throws {
        while try await store.acceptPage() { try Task.checkCancellation() }
    }

    func collectBlobs(unreferencedSince time: Date, atMost limit: Int) async throws(StoreError) -> CollectedBlobs {
        try await store.collectBlobs(unreferencedSince: time, atMost: limit)
    }

    func finish(_ steps: inout PruneSteps<PostgreSQLUpkeep>, now: Int64) async throws {
        try await steps.take { db in
            try db.execute("DELETE FROM partial WHERE at < $1", [now - orphanAge])
            return PruneStep(isLast: true)
        }
        for change in try await read({ db in try Partitions.changes(now: now, db) }) {
            try await steps.take { db in
                try Partitions.perform(change, db)
                return PruneStep(isLast: true)
            }
        }
    }
}

extension PostgreSQLTransaction {
    package func lockNames() throws -> Bool {
        do {
            // Whoever looks up a name meanwhile waits behind this, and this behind an import: the next maintenance tries again.
            try inSavepoint {
                try execute("SELECT set_config('lock_timeout', '500', true)")
                try execute("LOCK TABLE maintenance IN EXCLUSIVE MODE")
                try execute("SELECT set_config('lock_timeout', '30000', true)")
            }
            return true
        } catch let error as DatabaseError where error.isUnavailableLock {
            return false
        }
    }

    package func removeFailures(atMost limit: Int) throws -> Int {
        try execute(
            """
            DELETE FROM source_failure WHERE ctid = ANY (ARRAY(
              SELECT ctid FROM source_failure WHERE until <= $1 ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED))
            """,
            [now, limit]
        )
    }

    package func removeChanges(before limit: Int64) throws -> PruneStep {
        let page = 5_000
        let count = try execute(
            """
            DELETE FROM change WHERE at < $1 AND last < (SELECT max(last) FROM change)
              AND last <= (SELECT max(last) FROM (SELECT last FROM change ORDER BY last LIMIT $2) AS page)
            """,
            [limit, page]
        )
        return PruneStep(isLast: count < page)
    }
}
