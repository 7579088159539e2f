package import CameoModel
package import CameoQueue
package import CameoStore

// Jobs that complete without rendering, and blobs that a storage has lost.
extension PostgreSQLStore {
    package func complete(
        _ claim: Claim,
        keeping thumbnails: [ThumbnailID],
        seen: Revalidation?,
        timings: AttemptTimings
    ) async throws(StoreError) {
        let use = ClaimUse(claim: claim, timings: { timings })
        try await writes.commit(.begun, using: use) { db in
            try db.complete(claim, timings: timings)
            guard !thumbnails.isEmpty else { return }
            if db.isStoring(thumbnails) { try db.flush() }
            let known = try db.existing(thumbnails)
            if let missing = thumbnails.first(where: { !known.contains($0.text) }) {
                throw StoreError.notFound(uri: CameoURI.thumbnail(missing).text)
            }
            try db.noteUse(of: thumbnails)
            guard let seen else { return }
            // A thumbnail replaced by a newer fetch is left alone.
            for (id, overlay) in zip(thumbnails, seen.overlayDigests) {
                db.store(
                    """
                    UPDATE thumbnail SET source_seen = greatest(source_seen, $5), job_id = $6, updated_at = $7
                    WHERE id = $1 AND source_digest = $3 AND overlay_digest IS NOT DISTINCT FROM $2 AND renderer_version = $4
                    """,
                    [
                        id.text, overlay?.hex, seen.sourceDigest.hex, seen.rendererVersion, seen.sourceSeen,
                        claim.jobID,
                        db.now,
                    ],
                    in: id
                )
            }
        }
    }

    package func missing(_ blobs: Set<SourcePage.Blob>) async throws(StoreError) -> Set<BlobDigest> {
        var missing: Set<BlobDigest> = []
        guard let storage else { return missing }
        for blob in blobs where try await !Self.has(blob.digest, blob.size, storage) { missing.insert(blob.digest) }
        return missing
    }

    /// Whether a storage has the bytes, of which it is asked for one.
    private static func has(
        _ digest: BlobDigest,
        _ size: Int,
        _ storage: any ByteStorage
    ) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try await storage.data(of: digest, range: 0..<min(1, size), size: size).count == min(1, size)
        } catch {
            switch error {
            case .notFound, .damagedBlob: return false
            default: throw error
            }
        }
    }
}
