internal import CameoModel
package import CameoQueue
package import CameoStore
package import Foundation

// DESIGN. A process that stores the same bytes at the same time renews the age of the row first and references it later:
// only blobs whose row is over an hour old are removed. Rows stay locked until the bytes outside of the database are
// removed too, so that a new put waits, and puts the bytes again.

extension PostgreSQLStore {
    /// - Throws: ``StoreError``; then nothing was removed, but bytes outside of the database, which nothing references. What
    ///   the storage does not remove is put off for an hour.
    package func collectBlobs(unreferencedSince time: Date, atMost limit: Int) async throws(StoreError)
        -> CollectedBlobs
    {
        let time = time.milliseconds
        let others = try await othersBytes()
        let hasStorage = storage != nil && others == nil
        let (collected, outside) = try await commit(.begun) { db in
            try db.collect(before: time, atMost: limit, withStorage: hasStorage)
        }
        guard let storage, !outside.isEmpty else { return collected }
        var (count, bytes) = (collected.count, collected.bytes)
        var (kept, failure) = ([BlobDigest](), StoreError?.none)
        for digest in outside {
            // A storage that does not answer is asked once.
            if case .unreachable? = failure { kept.append(digest); continue }
            do throws(StoreError) {
                let removed = try await hold { db -> Int? in
                    let found = try db.unreferenced(digest)
                    return found.flatMap { $0.createdAt <= time && !$0.isInline ? $0.size : nil }
                } while: {
                    try await storage.remove(digest)
                } finally: { db, size, _ in
                    try db.forget(digest)
                    return size
                }
                guard let removed else { continue }
                count += 1
                bytes += removed
            } catch {
                (failure, kept) = (failure ?? error, kept + [digest])
            }
        }
        if !kept.isEmpty {
            let digests = SQLArray(kept.map(\.hex))
            _ = try await commit(.begun) { db in
                try db.execute("UPDATE orphan SET since = $1 WHERE digest = ANY($2::text[])", [db.now, digests])
            }
        }
        var total = CollectedBlobs(count: count, bytes: bytes, candidates: collected.candidates)
        (total.failures, total.failure) = (kept.count, failure)
        return total
    }
}

extension PostgreSQLTransaction {
    /// Removes blobs whose bytes are in their rows.
    ///
    /// - Returns: what was removed, and the blobs to be removed whose bytes are elsewhere.
    fileprivate func collect(before time: Int64, atMost limit: Int, withStorage hasStorage: Bool) throws -> (
        CollectedBlobs, [BlobDigest]
    ) {
        // The blobs that an unaccepted row needs are not known yet.
        guard try !hasArrivals() else { return (CollectedBlobs(count: 0, bytes: 0, candidates: 0), []) }
        let candidates: [String] = try column(
            "SELECT digest FROM orphan WHERE since <= $1 ORDER BY since LIMIT $2 FOR UPDATE SKIP LOCKED",
            [time, limit]
        )
        var (count, bytes, outside) = (0, 0, [BlobDigest]())
        for hex in candidates {
            guard let digest = BlobDigest(hex: hex), let found = try unreferenced(digest) else {
                try execute("DELETE FROM orphan WHERE digest = $1", [hex])
                continue
            }
            // One whose bytes are in a storage that this program does not know, or does not own, is left to others.
            guard found.createdAt <= time, found.isInline || hasStorage else {
                let since = min(max(found.createdAt, time + 1), now)
                try execute("UPDATE orphan SET since = $1 WHERE digest = $2", [since, hex])
                continue
            }
            if found.isInline {
                try forget(digest)
                count += 1
                bytes += found.size
            } else {
                outside.append(digest)
            }
        }
        return (CollectedBlobs(count: count, bytes: bytes, candidates: candidates.count), outside)
    }

    fileprivate func forget(_ digest: BlobDigest) throws {
        try execute([
            .init("DELETE FROM blob WHERE digest = $1", [digest.hex]),
            .init("DELETE FROM orphan WHERE digest = $1", [digest.hex]),
        ])
    }

    /// Locks a blob unless it is referenced, pinned or gone. The lock keeps others from referencing it, which the second
    /// look finds if they did so before.
    /// What was forgotten counts as older than it is.
    fileprivate func unreferenced(_ digest: BlobDigest) throws -> (size: Int, createdAt: Int64, isInline: Bool)? {
        guard try row("SELECT 1 FROM blob WHERE digest = $1 FOR UPDATE SKIP LOCKED", [digest.hex]) != nil else {
            // Who has it locked is storing the same bytes. Waiting for that one, who may note orphans, could be in a circle.
            let exists = try row("SELECT 1 FROM blob WHERE digest = $1", [digest.hex]) != nil
            return exists ? (size: 0, createdAt: .max, isInline: true) : nil
        }
        let row = try row(
            """
            SELECT size, created_at - CASE WHEN \(isGone) THEN \(orphanAge - forgottenAge) ELSE 0 END AS created_at,
              data IS NOT NULL AS is_inline
            FROM blob WHERE digest = $1 AND \(isRemovable)
            """,
            [digest.hex]
        )
        return try row.map { (size: try $0["size"], createdAt: try $0["created_at"], isInline: try $0["is_inline"]) }
    }
}
