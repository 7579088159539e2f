internal import CameoHTTPCache
package import CameoModel
package import CameoQueue
package import CameoStore
internal import CameoSystem
package import Foundation

/// Blobs in rows and files: storing, reading, and collecting those that nothing references.
extension SQLiteStore {
    // The bytes are in the store's folder, which nobody else reads.
    package func temporaryURL(
        of digest: BlobDigest,
        on terms: TemporaryURLTerms
    ) async throws(StoreError) -> TemporaryURL? { nil }

    package func temporaryURLOrigin(at endpoint: Endpoint?) -> String? { nil }

    package func outsideData(of digest: BlobDigest, size: Int, inParts: Bool) async throws(StoreError) -> Data {
        let data = try await files.read(digest)
        guard BlobDigest(of: data) == digest else { throw .damagedBlob(digest: digest.description) }
        return data
    }

    package func outsideBytes(of digest: BlobDigest, size: Int) async throws(StoreError) -> BlobBytes {
        .file(try await files.file(of: digest, size: size), count: size)
    }

    /// Digests that have a file in a folder but no row that references the file.
    func orphanedFiles(among digests: [BlobDigest], in prefix: String) async throws(StoreError) -> [BlobDigest] {
        guard !digests.isEmpty else { return [] }
        let look = "SELECT digest FROM blob WHERE digest >= ?1 AND digest < ?1 || 'g' AND data IS NULL"
        let known: Set<String> = try await read { db in try Set(db.column(look, [prefix])) }
        return digests.filter { !known.contains($0.hex) }
    }

    // DESIGN. A process that stores the same bytes concurrently writes its file first and references it in a later
    // transaction, so the file's age is what protects it: only files created over an hour ago are removed, and storing the
    // bytes again creates a new file. It could replace the old one between the check of its age and its removal, so the file
    // is first moved aside, which is atomic, then checked, and moved back if it is young. All this happens under the write
    // lock, so that no row can reference the path while it is empty, and a file is never moved back over one created in the
    // meantime. Files moved aside are deleted after the commit. A crash leaves them among the unfinished files, which are
    // removed an hour later, and at worst an unreferenced row without bytes, which the next collection removes.

    /// - Throws: ``StoreError``; then nothing was removed. A file that cannot be moved is put off for an hour.
    package func collectBlobs(unreferencedSince time: Date, atMost limit: Int) async throws(StoreError)
        -> CollectedBlobs
    {
        let (files, time) = (files, time.milliseconds)
        let collected = try await commitRemoval { db, moved -> CollectedBlobs in
            // The blobs that an unaccepted row needs are not known yet.
            guard try !db.hasArrivals() else { return CollectedBlobs(count: 0, bytes: 0, candidates: 0) }
            let candidates: [String] = try db.column(
                "SELECT digest FROM orphan WHERE since <= ?1 ORDER BY since LIMIT ?2",
                [time, limit]
            )
            let look = """
                SELECT size, created_at, data IS NOT NULL AS is_inline, \(isGone) AS is_gone FROM blob
                WHERE digest = ?1 AND \(isRemovable)
                """
            var (count, bytes, failures, failure) = (0, 0, 0, StoreError?.none)
            var forgotten = 0
            defer { if forgotten > 0 { _ = try? db.query("PRAGMA secure_delete = OFF") } }
            for hex in candidates {
                // One that is referenced, pinned or gone stays.
                guard let digest = BlobDigest(hex: hex), let row = try db.row(look, [hex]) else {
                    try db.execute("DELETE FROM orphan WHERE digest = ?1", [hex])
                    continue
                }
                let (createdAt, isInline): (Int64, Bool) = try (row["created_at"], row["is_inline"])
                let ahead = try row["is_gone"] ? orphanAge - forgottenAge : 0
                let time = time + ahead
                var later: Int64?
                do {
                    let isRemovable =
                        try createdAt <= time
                        && (isInline || files.moveAside(digest, madeIn: 0...time, noting: moved))
                    if !isRemovable { later = max(createdAt, time + 1) - ahead }
                } catch let error as Errno {
                    failures += 1
                    failure = failure ?? .failed("\(files.directory.blobFile(digest)): \(error)")
                    later = db.now
                }
                if let later {
                    try db.execute("UPDATE orphan SET since = ?1 WHERE digest = ?2", [later, hex])
                    continue
                }
                // Not even in a free page of the file.
                if ahead > 0 {
                    if forgotten == 0 { _ = try db.query("PRAGMA secure_delete = ON") }
                    forgotten += 1
                }
                try db.execute("DELETE FROM blob WHERE digest = ?1", [hex])
                try db.execute("DELETE FROM orphan WHERE digest = ?1", [hex])
                count += 1
                bytes += try row["size"]
            }
            var collected = CollectedBlobs(count: count, bytes: bytes, candidates: candidates.count)
            (collected.failures, collected.failure, collected.forgotten) = (failures, failure, forgotten)
            return collected
        }
        // The log has them still.
        if collected.forgotten > 0 { try await checkpointNow() }
        return collected
    }

    /// Commits a removal of blobs, whose files the body moves aside: they are deleted after the commit, or moved back.
    func commitRemoval<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction, MovedFiles) throws -> Value
    ) async throws(StoreError) -> Value {
        let moved = MovedFiles()
        do throws(StoreError) {
            let value = try await commit { db in
                moved.beginRun()
                return try body(db, moved)
            }
            files.remove(moved)
            return value
        } catch {
            files.moveBack(moved)
            throw error
        }
    }
}
