package import CameoModel
package import CameoStore

// DESIGN. A thumbnail is removed when it was not read or made for a long time; its blob is collected later. Its URI
// stays valid: a request for it makes it again. Only the record of what it was made from is lost. A thumbnail that a
// waiting job needs is kept, however long that job waits: the scan passes over it.

/// Whether an unfinished job needs a row of `thumbnail` or its blob, as SQL.
private let isNeeded = """
    EXISTS (
      SELECT 1 FROM ingredient JOIN task ON task.id = ingredient.job_id
      WHERE ingredient.name IN (thumbnail.id, thumbnail.blob))
    """

extension QueueStore {
    /// Removes the thumbnails not used since a time, least recently used first, unless a job needs them by then.
    func removeThumbnails(notUsedSince limit: Int64, _ steps: inout PruneSteps<Self>) async throws {
        try await steps.take { (last: IndexEntry<String>?, count: Int, db: Transaction) in
            (
                """
                SELECT id, used_at AS at, NOT \(isNeeded) AS is_removable
                FROM thumbnail \(db.dialect.indexed(by: "thumbnail_use"))
                WHERE used_at < ?1 AND used_at >= ?2 AND (used_at, id) > (?2, ?3)
                ORDER BY used_at, id LIMIT ?4
                """,
                [limit, last?.at ?? .min, last?.id ?? "", count]
            )
        } removing: { ids, db in
            var removed = Pruned()
            // The thumbnails that an unaccepted row needs are not known yet.
            guard try !db.hasArrivals() else { return removed }
            removed.thumbnails = try db.execute(
                """
                DELETE FROM thumbnail
                WHERE id IN (
                    SELECT id FROM thumbnail WHERE id \(db.dialect.isIn("?1", .texts)) AND used_at < ?2
                    ORDER BY id \(db.dialect.skippingLocked))
                  AND NOT \(isNeeded)
                """,
                [ids, limit]
            )
            try db.removeLabels(of: ids)
            return removed
        }
    }

    package func removeThumbnails(_ ids: [ThumbnailID]) async throws(StoreError) -> Int {
        while true {
            // The thumbnails that a request needs are known once it is accepted.
            try await acceptAll()
            let removed = try await commit(.new) { db -> Int? in
                guard try !db.hasArrivals() else { return nil }
                let rows = "thumbnail WHERE id \(db.dialect.isIn("?1", .texts)) ORDER BY id \(db.dialect.locking)"
                let removal = "DELETE FROM thumbnail WHERE id IN (SELECT id FROM \(rows)) AND NOT \(isNeeded)"
                let isAside = "thumbnail \(db.dialect.isIn("?1", .texts))"
                try db.execute("DELETE FROM set_aside WHERE \(isAside)", [ids.map(\.text)])
                let count = try db.execute(removal, [ids.map(\.text)])
                try db.removeLabels(of: ids.map(\.text))
                return count
            }
            if let removed { return removed }
        }
    }
}

extension QueueTransaction {
    /// The time before which unused thumbnails have expired; nil if all are kept, including while reads have not been
    /// recorded for that long.
    func limitOfThumbnails(_ retention: Retention, now: Int64) throws -> Int64? {
        guard let limit = retention.limitOfThumbnails(now: now),
            let since: Int64 = try value("SELECT since FROM epoch WHERE name = 'readings'"), since < limit
        else { return nil }
        return limit
    }

    /// Counts what retention would remove.
    func unusedThumbnails(_ retention: Retention) throws -> Int {
        guard let limit = try limitOfThumbnails(retention, now: now) else { return 0 }
        return try value(
            """
            SELECT count(*) FROM thumbnail \(dialect.indexed(by: "thumbnail_use"))
            WHERE used_at < ?1 AND NOT \(isNeeded)
            """,
            [limit]
        ) ?? 0
    }
}
