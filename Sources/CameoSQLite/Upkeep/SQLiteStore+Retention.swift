internal import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. Retention finds candidates by scanning an index once in read transactions, and removes them in small write
// transactions that check again. So no claim or settlement waits for more than one of these, and jobs that stay are not
// scanned repeatedly. One process at a time does it (``MaintenanceTurn``).
extension SQLiteStore {
    /// How long a blob must have been unreferenced, in seconds (invariant I6).
    private static let orphanAge = 3_600.0
    /// The number of blobs examined per transaction.
    private static let collectionStep = 32

    package func prune(
        _ retention: Retention,
        in turn: MaintenanceTurn,
        pause: Duration = .zero,
        report: @escaping (Pruned) async -> Void = { _ in }
    ) async throws -> Pruned {
        defer { withExtendedLifetime(turn) {} }
        let now = nowMilliseconds
        // What a request references is known only once it is accepted. A worker that ends does not wait for a backlog.
        while try await acceptArrivals() { try Task.checkCancellation() }
        var steps = PruneSteps(pause: pause, report: report)
        try await giveUpUnclaimedDeliveries(now: now, &steps)
        for state in Retention.states {
            guard let limit = retention.limit(state, now: now) else { continue }
            var isDone = false
            while !isDone {
                try await steps.take { () throws(StoreError) in
                    let removed = try await remove(state, endedBefore: limit)
                    isDone = removed.jobs < PruneSteps.size
                    return removed
                }
            }
        }
        try await removeChanges(retention, now: now, &steps)
        try await removeUnusedThumbnails(retention, now: now, &steps)
        try await removeLeftovers(now: now, &steps)
        try await collect(&steps)
        let files = files
        let limit = clock.now().addingTimeInterval(-Self.orphanAge)
        try await files.perform { _ in files.removeUnfinished(olderThan: limit) }
        // One that a reader kept long stays so after the reader has gone, until much more is written.
        try await checkpointNow(onlyIfLong: true)
        return steps.total
    }

    private func collect(_ steps: inout PruneSteps) async throws {
        let since = clock.now().addingTimeInterval(-Self.orphanAge)
        var isDone = false
        while !isDone {
            try await steps.take { () throws(StoreError) in
                let collected = try await collectBlobs(unreferencedSince: since, atMost: Self.collectionStep)
                // A step postpones the blobs that it does not remove, so this ends.
                isDone = collected.candidates < Self.collectionStep
                var step = Pruned()
                (step.blobs, step.blobBytes) = (collected.count, collected.bytes)
                return step
            }
        }
    }

    package func prunable(_ retention: Retention) async throws(StoreError) -> Pruned {
        if writes != nil { while try await acceptArrivals() {} }
        let now = nowMilliseconds
        var total = try await leftovers(now: now)
        for state in Retention.states {
            guard let limit = retention.limit(state, now: now) else { continue }
            let count = try await read { db in
                try Int.fetchOne(
                    db,
                    sql: """
                        SELECT count(*) FROM outcome INDEXED BY outcome_end WHERE state = ? AND finalized_at < ?
                          AND \(Hooks.isSettled)
                        """,
                    arguments: [state.code, limit]
                )
            }
            total.note(state, count ?? 0)
        }
        total.thumbnails = try await unusedThumbnails(retention, now: now)
        let blobs = try await collectableBlobs(unreferencedSince: clock.now().addingTimeInterval(-Self.orphanAge))
        (total.blobs, total.blobBytes) = (blobs.count, blobs.bytes)
        return total
    }

    /// Removes the jobs that ended first, with all their dependent rows.
    private func remove(_ state: JobState, endedBefore limit: Int64) async throws(StoreError) -> Pruned {
        try await commit { db in
            let ended = try db.cachedStatement(
                sql: """
                    SELECT id, queue FROM outcome INDEXED BY outcome_end WHERE state = ? AND finalized_at < ?
                      AND \(Hooks.isSettled)
                    ORDER BY finalized_at LIMIT ?
                    """
            )
            let remove = try db.cachedStatement(sql: "DELETE FROM job WHERE id = ?")
            var (removed, ledger) = (Pruned(), Ledger(now: 0))
            for row in try Row.fetchAll(ended, arguments: [state.code, limit, PruneSteps.size]) {
                try remove.execute(arguments: [row[0] as Int64])
                ledger.forget(state, in: row[1])
                removed.note(state, 1)
            }
            try ledger.post(db)
            return removed
        }
    }

    /// Removes changes older than any kept job. The last change is kept for ever, because cursors depend on it.
    private func removeChanges(_ retention: Retention, now: Int64, _ steps: inout PruneSteps) async throws {
        guard let limit = retention.limitOfChanges(now: now) else { return }
        var isLeft = true
        while isLeft {
            try await steps.take { () throws(StoreError) in
                isLeft = try await commit { db in
                    let remove = try db.cachedStatement(
                        sql: """
                            DELETE FROM change WHERE seq IN (
                              SELECT seq FROM (SELECT seq, at FROM change ORDER BY seq LIMIT ?)
                              WHERE at < ? AND seq < (SELECT max(seq) FROM change))
                            """
                    )
                    try remove.execute(arguments: [Self.prunePage, limit])
                    return db.changesCount == Self.prunePage
                }
                return Pruned()
            }
        }
    }
}
