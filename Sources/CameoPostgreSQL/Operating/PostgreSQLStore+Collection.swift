internal import CameoModel
internal import CameoStore
internal import Foundation

// DESIGN. Unreferenced blobs are removed a few at a time (invariant I6). Triggers record each blob that loses a
// reference, so no scan is needed; collection then checks whether another row still references it.
//
// A job references its source and overlays for as long as its row exists, even after it has ended, so that an
// operator's retry finds them.
//
// A transaction that stores the same bytes concurrently renews their row (`created_at`) and with that locks it, and the
// collector locks the row before it looks for references: whoever comes second sees what the first has done. A row that
// a transaction references without storing its bytes (an ingredient) cannot be guarded so; the hour in which a blob that
// lost its last reference stays is for these.

struct CollectedBlobs: Hashable, Sendable {
    let count: Int
    let bytes: Int
    /// The number of blobs examined; fewer than the limit means that none are left for now.
    let candidates: Int
}

extension PostgreSQLStore {
    /// Removes blobs whose bytes are in their rows and that have been unreferenced since a time, in a transaction of its own.
    static func collectBlobs(
        unreferencedSince time: Int64,
        atMost limit: Int,
        _ db: Database
    ) throws -> CollectedBlobs {
        let candidates: [String] = try db.column(
            """
            SELECT orphan.digest FROM orphan LEFT JOIN blob ON blob.digest = orphan.digest
            WHERE since <= $1 AND (blob.digest IS NULL OR blob.data IS NOT NULL)
            ORDER BY since LIMIT $2 FOR UPDATE OF orphan SKIP LOCKED
            """,
            [time, limit]
        )
        guard !candidates.isEmpty else { return CollectedBlobs(count: 0, bytes: 0, candidates: 0) }
        try db.execute(
            "SELECT 1 FROM blob WHERE digest = ANY($1::text[]) ORDER BY digest FOR UPDATE",
            [SQLArray(candidates)]
        )
        // The next statement sees what was committed before the locks were granted.
        let removed = try db.query(
            """
            DELETE FROM blob
            WHERE digest = ANY($1::text[]) AND data IS NOT NULL AND created_at <= $2 AND \(isUnreferenced)
            RETURNING digest, size
            """,
            [SQLArray(candidates), time]
        )
        let gone: [String] = try removed.map { try $0[0] }
        // What stays is referenced, or was stored again and waits for its hour.
        try db.execute(
            """
            WITH young AS (
              UPDATE orphan SET since = greatest(blob.created_at, $2::bigint + 1) FROM blob
              WHERE orphan.digest = ANY($1::text[]) AND blob.digest = orphan.digest AND created_at > $2
                AND \(isUnreferenced) RETURNING orphan.digest)
            DELETE FROM orphan WHERE digest = ANY($1::text[]) AND digest NOT IN (SELECT digest FROM young)
            """,
            [SQLArray(candidates), time]
        )
        return CollectedBlobs(
            count: gone.count,
            bytes: try removed.reduce(0) { $0 + (try $1[1]) },
            candidates: candidates.count
        )
    }

    /// Counts what repeated calls of ``collectBlobs(unreferencedSince:atMost:_:)`` would remove.
    static func collectableBlobs(unreferencedSince time: Int64, _ db: Database) throws -> (count: Int, bytes: Int) {
        let row = try db.row(
            """
            SELECT count(*), coalesce(sum(size), 0)::bigint FROM orphan JOIN blob ON blob.digest = orphan.digest
            WHERE since <= $1 AND created_at <= $1 AND \(isUnreferenced)
            """,
            [time]
        )
        return try row.map { try ($0[0], $0[1]) } ?? (0, 0)
    }

    /// The condition for a blob that no row references and that no program has pinned.
    static let isUnreferenced = """
        NOT blob.pinned AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE thumbnail.blob = blob.digest)
          AND NOT EXISTS (SELECT 1 FROM source WHERE source.blob = blob.digest)
          AND NOT EXISTS (SELECT 1 FROM ingredient WHERE ingredient.name = blob.digest)
        """
}
