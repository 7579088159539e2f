internal import CameoModel
package import CameoQueue
package import CameoStore
package import Foundation

// DESIGN. Unreferenced blobs are removed a few at a time (invariant I6). Triggers record each blob that loses a
// reference, so no scan is needed; collection then checks whether another row still references it.
//
// A job references its source and overlays for as long as its row exists, even after it has ended, so that an
// operator's retry finds them.
//
// A process that stores the same bytes concurrently writes its file first and references it in a later transaction, so
// the file's age is what protects it: only files created over an hour ago are removed, and storing the bytes again
// creates a new file. A new file could replace the old one between the check of its age and its removal. Therefore the
// file is first moved aside, which is atomic, then checked, and moved back if it is young. All this happens under the
// write lock, so no row can reference the path while it is empty, and a file is never moved back over one created in
// the meantime. Files moved aside are deleted after the commit. A crash leaves them among the unfinished files, which
// are removed an hour later, and at worst an unreferenced row without bytes, which the next collection removes. A file
// that cannot be moved keeps its row, and both are put off for an hour.

extension SQLiteStore {
    /// - Throws: ``StoreError``; then nothing was removed. A file that cannot be moved is put off for an hour.
    package func collectBlobs(unreferencedSince time: Date, atMost limit: Int) async throws(StoreError)
        -> CollectedBlobs
    {
        let (files, time) = (files, time.milliseconds)
        let moved = MovedFiles()
        do throws(StoreError) {
            let collected = try await commit { db in
                moved.beginRun()
                return try Self.collect(before: time, atMost: limit, files, moved, db)
            }
            files.remove(moved)
            return collected
        } catch {
            files.moveBack(moved)
            throw error
        }
    }

    package func collectableBlobs(unreferencedSince time: Date) async throws(StoreError) -> (count: Int, bytes: Int) {
        try await read { db in
            let hexes: [String] = try db.column("SELECT digest FROM orphan WHERE since <= ?1", [time.milliseconds])
            return try hexes.compactMap(BlobDigest.init(hex:)).reduce((0, 0)) { sum, digest in
                guard let row = try Self.unreferenced(digest, db), try row["created_at"] <= time.milliseconds else {
                    return sum
                }
                return (sum.0 + 1, sum.1 + (try row["size"]))
            }
        }
    }

    private static func collect(
        before time: Int64,
        atMost limit: Int,
        _ files: BlobFiles,
        _ moved: MovedFiles,
        _ db: SQLiteTransaction
    ) throws -> CollectedBlobs {
        // The blobs that an unaccepted row needs are not known yet.
        guard try !db.hasArrivals() else { return CollectedBlobs(count: 0, bytes: 0, candidates: 0) }
        let candidates: [String] = try db.column(
            "SELECT digest FROM orphan WHERE since <= ?1 ORDER BY since LIMIT ?2",
            [time, limit]
        )
        var (count, bytes, failures, failure) = (0, 0, 0, StoreError?.none)
        for hex in candidates {
            guard let digest = BlobDigest(hex: hex), let row = try unreferenced(digest, db) else {
                try db.execute("DELETE FROM orphan WHERE digest = ?1", [hex])
                continue
            }
            let (createdAt, isInline): (Int64, Bool) = try (row["created_at"], row["is_inline"])
            var later: Int64?
            do {
                let isRemovable =
                    try createdAt <= time && (isInline || files.moveAside(digest, madeIn: 0...time, noting: moved))
                if !isRemovable { later = max(createdAt, time + 1) }
            } catch let error as Errno {
                failures += 1
                failure = failure ?? .failed("\(files.directory.blobFile(digest)): \(error)")
                later = db.now
            }
            if let later {
                try db.execute("UPDATE orphan SET since = ?1 WHERE digest = ?2", [later, hex])
                continue
            }
            try db.execute("DELETE FROM blob WHERE digest = ?1", [hex])
            try db.execute("DELETE FROM orphan WHERE digest = ?1", [hex])
            count += 1
            bytes += try row["size"]
        }
        var collected = CollectedBlobs(count: count, bytes: bytes, candidates: candidates.count)
        (collected.failures, collected.failure) = (failures, failure)
        return collected
    }

    /// The row of an unreferenced blob; nil for a blob that is referenced, pinned or gone.
    private static func unreferenced(_ digest: BlobDigest, _ db: SQLiteTransaction) throws -> SQLiteRow? {
        try db.row(
            """
            SELECT size, created_at, data IS NOT NULL AS is_inline FROM blob
            WHERE digest = ?1 AND pinned = 0
              AND NOT EXISTS (SELECT 1 FROM thumbnail WHERE blob = ?1)
              AND NOT EXISTS (SELECT 1 FROM source WHERE blob = ?1)
              AND NOT EXISTS (SELECT 1 FROM ingredient WHERE name = ?1)
            """,
            [digest.hex]
        )
    }
}
