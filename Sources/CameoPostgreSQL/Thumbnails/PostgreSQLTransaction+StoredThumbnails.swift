internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

// Rows of the table `thumbnail`, written inside the transaction that completes their job.
extension PostgreSQLTransaction {
    /// Stores thumbnails (invariant I4). An older fetch never replaces a newer one's thumbnail. Of those in `same` the
    /// existing blob is kept: the renditions that shared the decode may change a few pixel values, and a URI's bytes
    /// should not flicker.
    func store(
        _ thumbnails: [(thumbnail: RenderedThumbnail, blob: PreparedBlob)],
        renewing same: Set<ThumbnailID>,
        from provenance: Provenance,
        jobID: Int64
    ) throws {
        // In the same order in every transaction: each locks the rows until its end.
        let sorted = thumbnails.sorted { $0.thumbnail.id.text < $1.thumbnail.id.text }
        var statements: [Connection.Statement] = []
        for (thumbnail, blob) in sorted where !same.contains(thumbnail.id) {
            let insertion = blob.insertion(at: now)
            statements.append(.init(Self.numbered(insertion.sql), insertion.values, prepared: true))
            statements.append(try upsert(thumbnail, blob, from: provenance, jobID: jobID))
        }
        let counts = try execute(statements)
        let stored = sorted.filter { !same.contains($0.thumbnail.id) }
        for (index, entry) in stored.enumerated() where counts[2 * index + 1] == 0 {
            // A newer fetch's thumbnail is kept, so these bytes are orphaned.
            try noteOrphan(entry.blob.digest)
        }
        for (thumbnail, blob) in sorted where same.contains(thumbnail.id) {
            try execute(
                """
                UPDATE thumbnail SET source_seen = greatest(source_seen, $1), job_id = $2, updated_at = $3 WHERE id = $4
                """,
                [provenance.sourceSeen, jobID, now, thumbnail.id.text]
            )
            if blob.data == nil { try blob.leave(self) }
        }
    }

    private func upsert(
        _ thumbnail: RenderedThumbnail,
        _ blob: PreparedBlob,
        from provenance: Provenance,
        jobID: Int64
    ) throws -> Connection.Statement {
        let (encoded, source) = (thumbnail.encoded, thumbnail.encoded.source ?? provenance.picture)
        let own: [(any SQLBindable)?] = [
            thumbnail.id.text, blob.digest.hex, encoded.width, encoded.height, encoded.format.rawValue,
            provenance.source, thumbnail.rendition.json.canonicalText, provenance.sourceDigest.hex,
            thumbnail.overlayDigest?.hex, provenance.sourceSeen, provenance.rendererVersion, jobID, now,
        ]
        let facts: [(any SQLBindable)?] = [
            encoded.hasAlpha, encoded.frames, encoded.placeholder.thumbHash, encoded.placeholder.blurHash,
            encoded.placeholder.dominantColorText, source.format.rawValue, source.width, source.height, source.pages,
            source.hasAlpha, source.isAnimated, provenance.isTruncated,
            try source.video.map { String(decoding: try WireFormat.encode($0), as: UTF8.self) },
        ]
        return .init(Self.upsertion, own + facts, prepared: true)
    }

    private static let upsertion = """
        INSERT INTO thumbnail(id, blob, width, height, format, source, rendition, source_digest, overlay_digest,
          source_seen, renderer_version, job_id, created_at, updated_at, has_alpha, frames, thumb_hash, blur_hash,
          dominant_color, source_format, source_width, source_height, source_pages, source_has_alpha,
          source_is_animated, is_truncated, source_video)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14, $15, $16, $17, $18, $19, $20, $21,
          $22, $23, $24, $25, $26)
        ON CONFLICT (id) DO UPDATE SET
          \(replacement)
        WHERE excluded.source_seen >= thumbnail.source_seen
        """

    /// The columns that change when a thumbnail is made again.
    private static let replacement = [
        "blob", "width", "height", "format", "source_digest", "overlay_digest", "source_seen", "renderer_version",
        "job_id", "updated_at", "has_alpha", "frames", "thumb_hash", "blur_hash", "dominant_color", "source_format",
        "source_width", "source_height", "source_pages", "source_has_alpha", "source_is_animated", "is_truncated",
        "source_video",
    ]
    .map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
}
