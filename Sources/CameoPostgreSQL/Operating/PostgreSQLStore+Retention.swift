internal import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. Retention removes in small transactions what an index shows to have expired, the oldest first, passing over rows
// that another transaction has locked. So no claim or settlement waits for more than one of these. Rows of history that
// are removed leave dead ones behind, which go with their partition once all of it has expired (``Partitions``). One
// process at a time does this (``MaintenanceLease``).
extension PostgreSQLStore {
    /// How long a blob must have been unreferenced, and a beginning of a download is kept, in milliseconds (invariant I6).
    private static let orphanAge: Int64 = 3_600_000
    /// The number of blobs examined per transaction.
    private static let collectionStep = 32
    /// The number of changes removed per transaction.
    private static let changesStep = 5_000

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
        let now = try await read { db in db.now }
        // What a request references is known only once it is accepted. A worker that ends does not wait for a backlog.
        while try await acceptPage() { try Task.checkCancellation() }
        try await numberChanges()
        var steps = PruneSteps(in: self, under: lease, pause: pause, report: report)
        try await giveUpUnclaimedDeliveries(now: now, &steps)
        for state in Retention.states {
            guard let limit = retention.limit(state, now: now) else { continue }
            try await steps.take { db in try Self.remove(state, endedBefore: limit, db) }
        }
        if let limit = retention.limitOfChanges(now: now) {
            try await steps.take { db in try Self.removeChanges(before: limit, db) }
        }
        try await removeUnusedThumbnails(retention, now: now, &steps)
        try await removeLeftovers(now: now, &steps)
        let limit = Date(milliseconds: now - Self.orphanAge)
        try await steps.takeApart { () throws(StoreError) in
            let collected = try await collectBlobs(unreferencedSince: limit, atMost: Self.collectionStep)
            // A step postpones the blobs that it does not remove, so this ends.
            var step = PruneStep(isLast: collected.candidates < Self.collectionStep)
            (step.removed.blobs, step.removed.blobBytes) = (collected.count, collected.bytes)
            return step
        }
        try await steps.take { db in
            try Self.removePartials(keptBefore: now - Self.orphanAge, db)
            return PruneStep(isLast: true)
        }
        for change in try await read({ db in try Partitions.changes(now: now, db) }) {
            try await steps.take { db in
                try Partitions.perform(change, db)
                return PruneStep(isLast: true)
            }
        }
        return steps.total
    }

    package func prunable(_ retention: Retention) async throws(StoreError) -> Pruned {
        if writes != nil { try await acceptArrivals() }
        var total = try await read { db in
            var total = try Self.leftovers(db)
            for state in Retention.states {
                guard let limit = retention.limit(state, now: db.now) else { continue }
                let count: Int? = try db.value(
                    "SELECT count(*) FROM outcome WHERE state = $1 AND finalized_at < $2 AND \(Self.isSettled)",
                    [state.code, limit]
                )
                total.note(state, count ?? 0)
            }
            total.thumbnails = try Self.unusedThumbnails(retention, db)
            return total
        }
        let limit = clock.now().addingTimeInterval(-Double(Self.orphanAge) / 1_000)
        let blobs = try await collectableBlobs(unreferencedSince: limit)
        (total.blobs, total.blobBytes) = (blobs.count, blobs.bytes)
        return total
    }

    /// The condition for jobs that have ended and whose deliveries have all been made or given up.
    private static let isSettled = """
        NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.job_id = outcome.id AND status < 2)
          AND NOT EXISTS (SELECT 1 FROM task WHERE task.id = outcome.id)
        """

    /// Removes the jobs that ended first, with all their dependent rows.
    private static func remove(_ state: JobState, endedBefore limit: Int64, _ db: Database) throws -> PruneStep {
        let ended = try db.query(
            """
            SELECT id, queue FROM outcome WHERE state = $1 AND finalized_at < $2 AND \(isSettled)
            ORDER BY finalized_at LIMIT $3 FOR UPDATE SKIP LOCKED
            """,
            [state.code, limit, PruneSteps.size]
        )
        let ids: [Int64] = try ended.map { try $0[0] }
        try db.execute("DELETE FROM job WHERE id = ANY($1::bigint[])", [SQLArray(ids)])
        // An outcome without a job, which only another program can have left, would come back in each step.
        try db.execute("DELETE FROM outcome WHERE id = ANY($1::bigint[])", [SQLArray(ids)])
        for row in ended { db.forget(state, in: try row[1]) }
        var step = PruneStep(isLast: ended.count < PruneSteps.size)
        step.removed.note(state, ended.count)
        return step
    }

    /// Removes changes older than any kept job, but never the last: in a store in a folder the next number follows it.
    private static func removeChanges(before limit: Int64, _ db: Database) throws -> PruneStep {
        let count = try db.execute(
            """
            DELETE FROM change WHERE at < $1 AND last < (SELECT max(last) FROM change)
              AND last <= (SELECT max(last) FROM (SELECT last FROM change ORDER BY last LIMIT $2) AS page)
            """,
            [limit, changesStep]
        )
        return PruneStep(isLast: count < changesStep)
    }
}
