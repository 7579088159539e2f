package import CameoModel
package import CameoQueue
package import CameoStore
internal import Foundation
internal import GRDB

// Rows of the table `thumbnail`, written inside the transaction that completes their job.
extension SQLiteStore {
    /// Stores a thumbnail (invariant I4). An older fetch never replaces a newer one's thumbnail. For the same source
    /// and overlay bytes and the same renderer, the first blob is kept: the renditions that shared the decode may
    /// change a few pixel values, and a URI's bytes should not flicker.
    static func store(
        _ thumbnail: RenderedThumbnail,
        _ blob: PreparedBlob,
        from provenance: Provenance,
        jobID: Int64,
        _ files: BlobFiles,
        in db: SQLiteTransaction
    ) throws {
        if try renew(thumbnail, from: provenance, jobID: jobID, files, in: db) {
            if blob.data == nil { try blob.leave(db) }
            return
        }
        try blob.insert(db)
        let upsert = try db.cachedStatement(
            sql: """
                INSERT INTO thumbnail(id, blob, width, height, format, source, rendition, source_digest, overlay_digest,
                  source_seen, renderer_version, job_id, created_at, updated_at, has_alpha, frames, thumb_hash, blur_hash,
                  dominant_color, source_format, source_width, source_height, source_pages, source_has_alpha,
                  source_is_animated, is_truncated, source_video)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT(id) DO UPDATE SET
                  \(replacement)
                WHERE excluded.source_seen >= thumbnail.source_seen
                """
        )
        let (encoded, source) = (thumbnail.encoded, thumbnail.encoded.source ?? provenance.picture)
        let own: [(any DatabaseValueConvertible)?] = [
            thumbnail.id.text, blob.digest.hex, encoded.width, encoded.height, encoded.format.rawValue,
            provenance.source, thumbnail.rendition.json.canonicalText, provenance.sourceDigest.hex,
            thumbnail.overlayDigest?.hex, provenance.sourceSeen, provenance.rendererVersion, jobID, db.now, db.now,
        ]
        let facts: [(any DatabaseValueConvertible)?] = [
            encoded.hasAlpha, encoded.frames, encoded.placeholder.thumbHash, encoded.placeholder.blurHash,
            encoded.placeholder.dominantColorText, source.format.rawValue, source.width, source.height, source.pages,
            source.hasAlpha, source.isAnimated, provenance.isTruncated,
            try source.video.map { String(decoding: try WireFormat.encode($0), as: UTF8.self) },
        ]
        try upsert.execute(arguments: StatementArguments(own) + StatementArguments(facts))
        // A newer fetch's thumbnail is kept, so these bytes are orphaned.
        if db.changesCount == 0 { try db.noteOrphan(blob.digest) }
    }

    /// The columns that change when a thumbnail is made again.
    private static let replacement = [
        "blob", "width", "height", "format", "source_digest", "overlay_digest", "source_seen", "renderer_version",
        "job_id", "updated_at", "has_alpha", "frames", "thumb_hash", "blur_hash", "dominant_color", "source_format",
        "source_width", "source_height", "source_pages", "source_has_alpha", "source_is_animated", "is_truncated",
        "source_video",
    ]
    .map { "\($0) = excluded.\($0)" }.joined(separator: ", ")

    /// Keeps an existing thumbnail of the same source and overlay bytes by the same renderer, unless its blob is
    /// damaged.
    private static func renew(
        _ thumbnail: RenderedThumbnail,
        from provenance: Provenance,
        jobID: Int64,
        _ files: BlobFiles,
        in db: SQLiteTransaction
    ) throws -> Bool {
        let find = try db.cachedStatement(
            sql: """
                SELECT blob.digest, blob.data FROM thumbnail JOIN blob ON blob.digest = thumbnail.blob
                WHERE id = ? AND source_digest = ? AND overlay_digest IS ? AND renderer_version = ?
                """
        )
        let same: StatementArguments = [
            thumbnail.id.text, provenance.sourceDigest.hex, thumbnail.overlayDigest?.hex, provenance.rendererVersion,
        ]
        guard let row = try Row.fetchOne(find, arguments: same), let digest = BlobDigest(hex: row["digest"] as String),
            files.isSound(digest, inline: row["data"])
        else { return false }
        let renew = try db.cachedStatement(
            sql: "UPDATE thumbnail SET source_seen = max(source_seen, ?), job_id = ?, updated_at = ? WHERE id = ?"
        )
        try renew.execute(arguments: [provenance.sourceSeen, jobID, db.now, thumbnail.id.text])
        return true
    }
}

extension SQLiteStore {
    /// Those of the blobs whose bytes are not there or, if they are verified, do not match their digest.
    package func damaged(_ blobs: Set<SourcePage.Blob>, verifying: Bool) async throws(StoreError) -> Set<BlobDigest> {
        guard verifying else {
            let inFiles = blobs.filter(\.isOutside)
            guard !inFiles.isEmpty else { return [] }
            return try await files.perform { directory in
                Set(
                    inFiles.filter { blob in
                        var status = stat()
                        return stat(directory.blobFile(blob.digest), &status) != 0 || Int(status.st_size) != blob.size
                    }
                    .map(\.digest)
                )
            }
        }
        var damaged: Set<BlobDigest> = []
        for blob in blobs where try await !isWhole(blob.digest) { damaged.insert(blob.digest) }
        return damaged
    }
}

// Jobs that complete without rendering.
extension SQLiteStore {
    package func have(_ thumbnails: [ThumbnailID], as seen: Revalidation?) async throws(StoreError) -> Bool {
        guard let seen else { return try await have(thumbnails) }
        return try await have(thumbnails, as: seen)
    }

    /// Whether all these thumbnails exist with undamaged bytes, whatever they were made from.
    package func have(_ thumbnails: [ThumbnailID]) async throws(StoreError) -> Bool {
        let blobs = try await read { db in try thumbnails.map { id in try db.thumbnail(id)?.blob } }
        for blob in blobs {
            guard let blob, try await isWhole(blob) else { return false }
        }
        return true
    }

    /// Whether all these thumbnails exist with undamaged bytes and were made from the same bytes by the same renderer.
    package func have(_ thumbnails: [ThumbnailID], as seen: Revalidation) async throws(StoreError) -> Bool {
        let files = files
        return try await read { db in
            let find = try db.cachedStatement(
                sql: """
                    SELECT blob.digest, blob.data FROM thumbnail JOIN blob ON blob.digest = thumbnail.blob
                    WHERE \(Self.isSame)
                    """
            )
            return try zip(thumbnails, seen.overlayDigests).allSatisfy { id, overlay in
                guard let row = try Row.fetchOne(find, arguments: seen.arguments(for: id, overlay)),
                    let digest = BlobDigest(hex: row["digest"] as String)
                else { return false }
                return files.isSound(digest, inline: row["data"])
            }
        }
    }

    /// Completes a job whose thumbnails exist, made from the revalidated bytes (`seen`) or, with nil, from any bytes.
    /// For retention this counts as a use.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)``; ``StoreError/notFound(uri:)`` if a thumbnail has been removed. Then
    ///   nothing was written.
    package func complete(
        _ claim: Claim,
        keeping thumbnails: [ThumbnailID],
        seen: Revalidation?,
        timings: AttemptTimings
    ) async throws(StoreError) {
        let now = nowMilliseconds
        try await commitCounting { db in
            try db.complete(claim, timings: timings)
            for id in thumbnails where try db.thumbnail(id) == nil {
                throw StoreError.notFound(uri: CameoURI.thumbnail(id).text)
            }
            try db.noteUse(of: thumbnails)
            guard let seen else { return }
            // A thumbnail replaced by a newer fetch is left alone.
            let renew = try db.cachedStatement(
                sql: """
                    UPDATE thumbnail SET source_seen = max(source_seen, ?5), job_id = ?6, updated_at = ?7
                    WHERE \(Self.isSame)
                    """
            )
            for (id, overlay) in zip(thumbnails, seen.overlayDigests) {
                let rest: StatementArguments = [seen.sourceSeen, claim.jobID, now]
                try renew.execute(arguments: seen.arguments(for: id, overlay) + rest)
            }
        }
    }

    private static let isSame = """
        id = ?1 AND source_digest = ?2 AND overlay_digest IS ?3 AND renderer_version = ?4
        """
}

extension Revalidation {
    fileprivate func arguments(for id: ThumbnailID, _ overlay: BlobDigest?) -> StatementArguments {
        [id.text, sourceDigest.hex, overlay?.hex, rendererVersion]
    }
}
