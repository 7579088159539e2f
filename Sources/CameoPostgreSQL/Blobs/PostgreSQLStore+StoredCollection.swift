internal import CameoModel
internal import CameoStore
internal import Foundation

// DESIGN. The bytes of a large blob are removed from their storage while its row is locked, one blob at a time: a process
// that stores the same bytes announces them by writing the row, waits there, and puts the bytes once it has the lock. A
// crash between the removal of the bytes and that of the row leaves a row that nothing references, and the next
// collection.

extension PostgreSQLStore {
    /// Removes a few blobs that have been unreferenced since a time, in milliseconds since 1970, with their bytes in the
    /// storage. Without a storage, nothing is removed.
    func collectStoredBlobs(unreferencedSince time: Int64, atMost limit: Int) async throws -> CollectedBlobs {
        guard let storage else { return CollectedBlobs(count: 0, bytes: 0, candidates: 0) }
        let candidates = try await transaction { db in try db.storedCandidates(unreferencedSince: time, atMost: limit) }
        var (count, bytes) = (0, 0)
        for digest in candidates {
            let removed = try await collector.hold { db in
                try db.lockUnreferenced(digest, before: time)
            } while: {
                try await storage.remove(digest)
            } finally: { db, _ in
                try db.execute("DELETE FROM blob WHERE digest = $1", [digest.hex])
                try db.execute("DELETE FROM orphan WHERE digest = $1", [digest.hex])
            }
            guard let removed else { continue }
            count += 1
            bytes += removed
        }
        return CollectedBlobs(count: count, bytes: bytes, candidates: candidates.count)
    }
}

extension Database {
    /// Selects unreferenced blobs whose bytes are in the storage. Those that were referenced or stored again are forgotten
    /// or postponed.
    fileprivate func storedCandidates(unreferencedSince time: Int64, atMost limit: Int) throws -> [BlobDigest] {
        let due = """
            SELECT orphan.digest, blob.created_at, \(PostgreSQLStore.isUnreferenced) AS is_free
            FROM orphan JOIN blob ON blob.digest = orphan.digest
            WHERE since <= $1 AND blob.data IS NULL ORDER BY since LIMIT $2 FOR UPDATE OF orphan SKIP LOCKED
            """
        try execute(
            "WITH due AS (\(due)) DELETE FROM orphan USING due WHERE orphan.digest = due.digest AND NOT is_free",
            [time, limit]
        )
        try execute(
            """
            WITH due AS (\(due)) UPDATE orphan SET since = due.created_at FROM due
            WHERE orphan.digest = due.digest AND due.created_at > $1
            """,
            [time, limit]
        )
        let digests: [String] = try column(due, [time, limit])
        return digests.compactMap(BlobDigest.init(hex:))
    }

    /// Locks an unreferenced blob and returns its size; nil if it is referenced, younger than the time, or gone.
    fileprivate func lockUnreferenced(_ digest: BlobDigest, before time: Int64) throws -> Int? {
        try execute("SELECT 1 FROM blob WHERE digest = $1 FOR UPDATE", [digest.hex])
        // A statement of its own sees what was committed before the lock was granted.
        return try value(
            """
            SELECT size FROM blob
            WHERE digest = $1 AND created_at <= $2 AND data IS NULL AND \(PostgreSQLStore.isUnreferenced)
            """,
            [digest.hex, time]
        )
    }
}
