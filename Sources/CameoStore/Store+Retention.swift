internal import CameoModel
internal import Foundation
internal import GRDB

// DESIGN. What retention removes it finds as a reader, walking once along the index of ends, and removes by small
// transactions that ask again. So no claim or settlement waits for longer than for one of them, and jobs that stay are
// not walked over again and again. One process at a time does it (``MaintenanceTurn``).
extension Store {
    /// Seconds for which nothing must have named a blob (invariant I6).
    private static let orphanAge = 3_600.0
    /// Blobs that one transaction looks at.
    private static let collectionStep = 32

    /// Removes the jobs and thumbnails that a retention no longer keeps, what was left over of others, and blobs that
    /// nothing has named for an hour, in small transactions. Thumbnails outlive their jobs.
    ///
    /// - Parameters:
    ///   - retention: what stays.
    ///   - turn: that nobody else removes or copies meanwhile.
    ///   - pause: what others have between two transactions for themselves.
    ///   - report: told after each transaction what it removed.
    /// - Returns: what was removed in all.
    /// - Throws: ``StoreError``; `CancellationError` between two transactions.
    package func prune(
        _ retention: Retention,
        in turn: MaintenanceTurn,
        pause: Duration = .zero,
        report: @escaping (Pruned) async -> Void = { _ in }
    ) async throws -> Pruned {
        defer { withExtendedLifetime(turn) {} }
        let now = nowMilliseconds
        var steps = PruneSteps(pause: pause, report: report)
        var walk = EndedJobs(retention, now: now)
        while let page = try await next(of: &walk) {
            try await steps.take(page.map(\.id)) { ids throws(StoreError) in try await remove(ids, retention, now) }
        }
        try await removeUnusedThumbnails(retention, now: now, &steps)
        try await removeLeftovers(now: now, &steps)
        try await collect(&steps)
        return steps.total
    }

    private func collect(_ steps: inout PruneSteps) async throws {
        let since = clock.now().addingTimeInterval(-Self.orphanAge)
        var isDone = false
        while !isDone {
            try await steps.take { () throws(StoreError) in
                let collected = try await collectBlobs(unreferencedSince: since, atMost: Self.collectionStep)
                // A step that removed nothing puts off what it looked at.
                isDone = collected.candidates < Self.collectionStep
                var step = Pruned()
                (step.blobs, step.blobBytes) = (collected.count, collected.bytes)
                return step
            }
        }
    }

    /// What ``prune(_:in:pause:report:)`` would remove now.
    package func prunable(_ retention: Retention) async throws(StoreError) -> Pruned {
        let now = nowMilliseconds
        var total = try await leftovers(now: now)
        var walk = EndedJobs(retention, now: now)
        while let page = try await next(of: &walk) {
            for job in page { total.note(job.state) }
        }
        total.thumbnails = try await unusedThumbnails(retention, now: now)
        let blobs = try await collectableBlobs(unreferencedSince: clock.now().addingTimeInterval(-Self.orphanAge))
        (total.blobs, total.blobBytes) = (blobs.count, blobs.bytes)
        return total
    }

    private func remove(_ ids: [Int64], _ retention: Retention, _ now: Int64) async throws(StoreError) -> Pruned {
        try await commit { db in
            // An operator may have retried one of them since the look: it has no end, or another.
            let remove = try db.cachedStatement(
                sql: """
                    DELETE FROM job WHERE id = ? AND finalized_at < CASE state
                      WHEN 'completed' THEN ? WHEN 'cancelled' THEN ? WHEN 'discarded' THEN ? END
                    RETURNING state
                    """
            )
            let limits = [JobState.completed, .cancelled, .discarded].map { retention.limit($0, now: now) }
            var removed = Pruned()
            for id in ids {
                let state = try String.fetchOne(remove, arguments: [id, limits[0], limits[1], limits[2]])
                if let state { removed.note(try JobState(stored: state)) }
            }
            return removed
        }
    }
}

/// A walk over the jobs that have ended, the one that ended first in front.
private struct EndedJobs: IndexWalk {
    struct Job: Sendable {
        let id: Int64
        let state: JobState
        let finalizedAt: Int64
    }

    private let limits: [JobState: Int64]
    private let end: Int64
    var last: Job?
    var isOver: Bool

    init(_ retention: Retention, now: Int64) {
        limits = Dictionary(
            uniqueKeysWithValues: JobState.allCases.compactMap { state in
                retention.limit(state, now: now).map { (state, $0) }
            }
        )
        end = limits.values.max() ?? .min
        isOver = limits.isEmpty
    }

    func isToGo(_ job: Job) -> Bool { limits[job.state].map { job.finalizedAt < $0 } ?? false }

    func entries(_ db: Database, limit: Int) throws -> [Job] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, state, finalized_at FROM job INDEXED BY job_finalized
                WHERE finalized_at IS NOT NULL AND finalized_at < ? AND (finalized_at, id) > (?, ?)
                ORDER BY finalized_at, id LIMIT ?
                """
        )
        return try Row.fetchAll(statement, arguments: [end, last?.finalizedAt ?? .min, last?.id ?? .min, limit]).map {
            row in
            Job(id: row["id"], state: try JobState(stored: row["state"]), finalizedAt: row["finalized_at"])
        }
    }
}
