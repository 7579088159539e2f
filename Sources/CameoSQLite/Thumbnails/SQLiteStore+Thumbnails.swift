internal import CameoModel
internal import CameoQueue
internal import CameoStore
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
