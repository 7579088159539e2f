package import CameoModel
package import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. A thumbnail is removed when it was not read or made for a long time; its blob is collected later. Its URI
// stays valid: a request for it makes it again. Only the record of what it was made from is lost. A thumbnail that a
// waiting job needs is kept, however long that job waits.
extension SQLiteStore {
    func removeUnusedThumbnails(_ retention: Retention, now: Int64, _ steps: inout PruneSteps) async throws {
        guard let limit = try await limitOfThumbnails(retention, now: now) else { return }
        var walk = UnusedThumbnails(before: limit)
        while let page = try await next(of: &walk) {
            let ids = page.map(\.id)
            try await steps.take(ids) { some throws(StoreError) in try await remove(some, notUsedSince: limit) }
        }
    }

    package func removeThumbnails(_ ids: [ThumbnailID]) async throws(StoreError) -> Int {
        while true {
            // The thumbnails that a request needs are known once it is accepted.
            while try await acceptArrivals() {}
            let removed = try await commit { db -> Int? in
                guard try !Self.hasArrivals(db) else { return nil }
                let remove = try db.cachedStatement(
                    sql: "DELETE FROM thumbnail WHERE id = ? AND NOT \(UnusedThumbnails.isNeeded)"
                )
                return try ids.reduce(0) { count, id in
                    try remove.execute(arguments: [id.text])
                    return count + db.changesCount
                }
            }
            if let removed { return removed }
        }
    }

    /// Counts what ``removeUnusedThumbnails(_:now:_:)`` would remove.
    func unusedThumbnails(_ retention: Retention, now: Int64) async throws(StoreError) -> Int {
        guard let limit = try await limitOfThumbnails(retention, now: now) else { return 0 }
        var (walk, count) = (UnusedThumbnails(before: limit), 0)
        while let page = try await next(of: &walk) { count += page.count }
        return count
    }

    /// The time before which unused thumbnails have expired; nil if all are kept, including while reads have not been
    /// recorded for that long.
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
            // The thumbnails that an unaccepted row needs are not known yet.
            guard try !Self.hasArrivals(db) else { return Pruned() }
            // A thumbnail may have been read since the scan, or a new job may need it.
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

/// A scan of the thumbnails not used since a time, least recently used first.
private struct UnusedThumbnails: IndexWalk {
    struct Candidate: Sendable {
        let id: String
        let usedAt: Int64
        let isNeeded: Bool
    }

    /// Whether an unfinished job needs the thumbnail or its blob.
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

    func isRemovable(_ candidate: Candidate) -> Bool { !candidate.isNeeded }

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
