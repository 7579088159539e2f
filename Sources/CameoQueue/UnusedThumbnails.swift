internal import CameoModel
internal import CameoStore

// DESIGN. A thumbnail is removed when it was not read or made for a long time; its blob is collected later. Its URI
// stays valid: a request for it makes it again. Only the record of what it was made from is lost. A thumbnail that a
// waiting job needs is kept, however long that job waits: the scan passes over it.

/// Whether an unfinished job needs a row of `thumbnail` or its blob, as SQL.
private let isNeeded = """
    EXISTS (
      SELECT 1 FROM ingredient JOIN task ON task.id = ingredient.job_id
      WHERE ingredient.name IN (thumbnail.id, thumbnail.blob))
    """

extension QueueTransaction {
    /// The thumbnails not used since a time, least recently used first.
    func thumbnails(
        notUsedSince limit: Int64,
        after last: IndexEntry<String>?,
        limit count: Int
    ) throws -> [IndexEntry<String>] {
        try query(
            """
            SELECT id, used_at AS at, NOT \(isNeeded) AS is_removable FROM thumbnail \(dialect.indexed(by: "thumbnail_use"))
            WHERE used_at < ?1 AND used_at >= ?2 AND (used_at, id) > (?2, ?3)
            ORDER BY used_at, id LIMIT ?4
            """,
            [limit, last?.at ?? .min, last?.id ?? "", count]
        )
        .map { try IndexEntry($0) }
    }

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

    /// Removes those of the thumbnails that have not been used since a time and that no job needs by now.
    func removeThumbnails(_ ids: [String], notUsedSince limit: Int64) throws -> Pruned {
        var removed = Pruned()
        // The thumbnails that an unaccepted row needs are not known yet.
        guard try !hasArrivals() else { return removed }
        removed.thumbnails = try execute(
            """
            DELETE FROM thumbnail
            WHERE id IN (
                SELECT id FROM thumbnail WHERE id \(dialect.isIn("?1", .texts)) AND used_at < ?2
                ORDER BY id \(dialect.skippingLocked))
              AND NOT \(isNeeded)
            """,
            [ids, limit]
        )
        return removed
    }

    /// Removes those of the thumbnails that no job needs.
    ///
    /// - Returns: their number; nil if there are jobs to be accepted first.
    package func removeThumbnails(_ ids: [String]) throws -> Int? {
        guard try !hasArrivals() else { return nil }
        return try execute(
            """
            DELETE FROM thumbnail
            WHERE id IN (SELECT id FROM thumbnail WHERE id \(dialect.isIn("?1", .texts)) ORDER BY id \(dialect.locking))
              AND NOT \(isNeeded)
            """,
            [ids]
        )
    }
}
