package import CameoModel
package import CameoQueue
package import CameoStore
internal import CameoSystem
internal import Foundation

// Rows of the table `thumbnail`, written inside the transaction that completes their job.
extension SQLiteStore {
    /// Stores a thumbnail (invariant I4). An older fetch never replaces a newer one's thumbnail. For the same source
    /// and overlay bytes and the same renderer, the first blob is kept unless it is damaged: the renditions that shared the
    /// decode may change a few pixel values, and a URI's bytes should not flicker.
    static func store(
        _ thumbnail: RenderedThumbnail,
        _ blob: PreparedBlob,
        from provenance: Provenance,
        jobID: Int64,
        _ files: BlobFiles,
        in db: SQLiteTransaction
    ) throws {
        let row = try db.row(
            """
            SELECT digest, data FROM thumbnail JOIN blob ON blob.digest = thumbnail.blob WHERE \(isSame)
            """,
            [thumbnail.id.text, provenance.sourceDigest.hex, thumbnail.overlayDigest?.hex, provenance.rendererVersion]
        )
        if let row, let digest = BlobDigest(hex: try row["digest"] as String),
            files.isSound(digest, inline: try row["data"])
        {
            try db.execute(
                "UPDATE thumbnail SET source_seen = max(source_seen, ?1), job_id = ?2, updated_at = ?3 WHERE id = ?4",
                [provenance.sourceSeen, jobID, db.now, thumbnail.id.text]
            )
            if blob.data == nil { try blob.leave(db) }
            return
        }
        try blob.insert(db)
        let values = try thumbnail.values(blob.digest, from: provenance, jobID: jobID, now: db.now)
        // A newer fetch's thumbnail is kept, so these bytes are orphaned.
        if try db.execute(RenderedThumbnail.upsertion, values) == 0 { try db.noteOrphan(blob.digest) }
    }

    package func missing(_ blobs: Set<SourcePage.Blob>) async throws(StoreError) -> Set<BlobDigest> {
        guard !blobs.isEmpty else { return [] }
        return try await files.perform { directory in
            let missing = blobs.filter { blob in
                StoreAccess.status(of: directory.blobFile(blob.digest)).map { Int($0.st_size) } != blob.size
            }
            return Set(missing.map(\.digest))
        }
    }

    package func complete(
        _ claim: Claim,
        storing thumbnails: [PreparedThumbnail],
        from provenance: Provenance,
        timings: @escaping @Sendable () -> AttemptTimings
    ) async throws(StoreError) {
        let files = files
        do throws(StoreError) {
            try await commit(.holding(claim)) { db in
                try db.complete(claim, timings: timings())
                for made in thumbnails {
                    try Self.store(made.thumbnail, made.blob, from: provenance, jobID: claim.jobID, files, in: db)
                }
                KillPoint.insideTransaction.pass()
            }
        } catch {
            let written = thumbnails.map(\.blob).filter { $0.data == nil }
            if case .leaseLost = error, !written.isEmpty {
                // Gives rows to files that no job will reference, so that collection finds them; a check finds them too.
                try? await commit(.begun) { db in
                    for blob in written { try blob.leave(db) }
                }
            }
            throw error
        }
        KillPoint.afterCommit.pass()
    }

    /// Completes a job without rendering.
    package func complete(
        _ claim: Claim,
        keeping thumbnails: [ThumbnailID],
        seen: Revalidation?,
        timings: AttemptTimings
    ) async throws(StoreError) {
        try await commit(.holding(claim)) { db in
            try db.complete(claim, timings: timings)
            for id in thumbnails where try db.thumbnail(id) == nil {
                throw StoreError.notFound(uri: CameoURI.thumbnail(id).text)
            }
            try db.noteUse(of: thumbnails)
            guard let seen else { return }
            // A thumbnail replaced by a newer fetch is left alone.
            for (id, overlay) in zip(thumbnails, seen.overlayDigests) {
                try db.execute(
                    """
                    UPDATE thumbnail SET source_seen = max(source_seen, ?5), job_id = ?6, updated_at = ?7
                    WHERE \(Self.isSame)
                    """,
                    [
                        id.text, seen.sourceDigest.hex, overlay?.hex, seen.rendererVersion, seen.sourceSeen,
                        claim.jobID, db.now,
                    ]
                )
            }
        }
    }

    fileprivate static let isSame = """
        id = ?1 AND source_digest = ?2 AND overlay_digest IS ?3 AND renderer_version = ?4
        """
}
