internal import CameoModel
internal import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. A thumbnail goes when nobody has read or made it for long; its blob goes later, with all that nothing names. Its
// job, and whatever else has its name, keeps that name: a request for it makes it anew. Only what a thumbnail was made of
// is forgotten with it. So one that a job is still to be made of stays, however long that job waits.
extension SQLiteStore {
    func removeUnusedThumbnails(_ retention: Retention, now: Int64, _ steps: inout PruneSteps) async throws {
        guard let limit = try await limitOfThumbnails(retention, now: now) else { return }
        var walk = UnusedThumbnails(before: limit)
        while let page = try await next(of: &walk) {
            let ids = page.map(\.id)
            try await steps.take(ids) { some throws(StoreError) in try await remove(some, notUsedSince: limit) }
        }
    }

    /// How many ``removeUnusedThumbnails(_:now:_:)`` would remove.
    func unusedThumbnails(_ retention: Retention, now: Int64) async throws(StoreError) -> Int {
        guard let limit = try await limitOfThumbnails(retention, now: now) else { return 0 }
        var (walk, count) = (UnusedThumbnails(before: limit), 0)
        while let page = try await next(of: &walk) { count += page.count }
        return count
    }

    /// Nil if all are kept: also as long as readings have not been noted for as long as that.
    private func limitOfThumbnails(_ retention: Retention, now: Int64) async throws(StoreError) -> Int64? {
        guard let limit = retention.limitOfThumbnails(now: now) else { return nil }
        let since = try await read { db in
            try Int64.fetchOne(db, sql: "SELECT since FROM epoch WHERE name = 'readings'")
        }
        guard let since, since < limit else { return nil }
        return limit
    }

    private func remove(_ ids: [String], notUsedSince limit: Int64) async throws(StoreError) -> Pruned {
        try await commit { db in
            // What a row that waits for its acceptance is to be made of nobody knows yet.
            guard try !Self.hasArrivals(db) else { return Pruned() }
            // Somebody may have read one of them since the look, or want something made of it.
            let remove = try db.cachedStatement(
                sql: "DELETE FROM thumbnail WHERE id = ? AND used_at < ? AND NOT \(UnusedThumbnails.isNeeded)"
            )
            var removed = Pruned()
            for id in ids {
                try remove.execute(arguments: [id, limit])
                removed.thumbnails += db.changesCount
            }
            return removed
        }
    }
}

/// A walk over the thumbnails that were not used since a time, the one that was not for longest in front.
private struct UnusedThumbnails: IndexWalk {
    struct Candidate: Sendable {
        let id: String
        let usedAt: Int64
        let isNeeded: Bool
    }

    /// Whether a job that has not ended is to be made of it, or of the bytes that it has.
    static let isNeeded = """
        EXISTS (
          SELECT 1 FROM ingredient JOIN task ON task.id = ingredient.job_id
          WHERE ingredient.name IN (thumbnail.id, thumbnail.blob))
        """

    private let limit: Int64
    var last: Candidate?
    var isOver = false

    init(before limit: Int64) {
        self.limit = limit
    }

    func isToGo(_ candidate: Candidate) -> Bool { !candidate.isNeeded }

    func entries(_ db: Database, limit count: Int) throws -> [Candidate] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, used_at, \(Self.isNeeded) AS is_needed FROM thumbnail INDEXED BY thumbnail_use
                WHERE used_at < ? AND (used_at, id) > (?, ?)
                ORDER BY used_at, id LIMIT ?
                """
        )
        return try Row.fetchAll(statement, arguments: [limit, last?.usedAt ?? .min, last?.id ?? "", count]).map { row in
            Candidate(id: row["id"], usedAt: row["used_at"], isNeeded: row["is_needed"])
        }
    }
}
