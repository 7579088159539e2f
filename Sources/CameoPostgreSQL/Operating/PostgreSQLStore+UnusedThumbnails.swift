package import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. A thumbnail is removed when it was not read or made for a long time; its blob is collected later. Its URI
// stays valid: a request for it makes it again. Only the record of what it was made from is lost. A thumbnail that a
// waiting job needs is kept, however long that job waits: the scan passes over it.
extension PostgreSQLStore {
    func removeUnusedThumbnails(_ retention: Retention, now: Int64, _ steps: inout PruneSteps) async throws {
        guard let limit = try await read({ db in try Self.limitOfThumbnails(retention, now: now, db) }) else { return }
        var walk = UnusedThumbnails(before: limit)
        while let page = try await next(of: &walk) {
            try await steps.take(page.map(\.id)) { ids, db in
                var removed = Pruned()
                // The thumbnails that an unaccepted row needs are not known yet.
                guard try !Arrival.exist(db) else { return removed }
                // A thumbnail may have been read since the scan, or a new job may need it.
                removed.thumbnails = try db.execute(
                    """
                    DELETE FROM thumbnail WHERE id = ANY($1::text[]) AND used_at < $2 AND NOT \(UnusedThumbnails.isNeeded)
                    """,
                    [SQLArray(ids), limit]
                )
                return removed
            }
        }
    }

    package func removeThumbnails(_ ids: [ThumbnailID]) async throws(StoreError) -> Int {
        while true {
            // The thumbnails that a request needs are known once it is accepted.
            try await acceptArrivals()
            let removed = try await commit { db -> Int? in
                guard try !Arrival.exist(db) else { return nil }
                return try db.execute(
                    "DELETE FROM thumbnail WHERE id = ANY($1::text[]) AND NOT \(UnusedThumbnails.isNeeded)",
                    [SQLArray(ids.map(\.text))]
                )
            }
            if let removed { return removed }
        }
    }

    /// Counts what ``removeUnusedThumbnails(_:now:_:)`` would remove.
    static func unusedThumbnails(_ retention: Retention, _ db: Database) throws -> Int {
        guard let limit = try limitOfThumbnails(retention, now: db.now, db) else { return 0 }
        return try db.value(
            "SELECT count(*) FROM thumbnail WHERE used_at < $1 AND NOT \(UnusedThumbnails.isNeeded)",
            [limit]
        ) ?? 0
    }

    /// The time before which unused thumbnails have expired; nil if all are kept, including while reads have not been
    /// recorded for that long.
    private static func limitOfThumbnails(_ retention: Retention, now: Int64, _ db: Database) throws -> Int64? {
        guard let limit = retention.limitOfThumbnails(now: now),
            let since: Int64 = try db.value("SELECT since FROM epoch WHERE name = 'readings'"), since < limit
        else { return nil }
        return limit
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
        try db.query(
            """
            SELECT id, used_at, \(Self.isNeeded) FROM thumbnail
            WHERE used_at < $1 AND used_at >= $2 AND (used_at, id) > ($2, $3)
            ORDER BY used_at, id LIMIT $4
            """,
            [limit, last?.usedAt ?? .min, last?.id ?? "", count]
        )
        .map { row in try Candidate(id: row[0], usedAt: row[1], isNeeded: row[2]) }
    }
}
