internal import CameoModel
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
            if blob.data == nil { try blob.leave(in: db) }
            return
        }
        try blob.insert(in: db)
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
        if db.changesCount == 0 { try noteOrphan(blob.digest, db) }
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

    /// The ids of those of these thumbnails that the store has.
    static func existing(_ ids: [ThumbnailID], _ db: SQLiteTransaction) throws -> Set<String> {
        let statement = try db.cachedStatement(
            sql: "SELECT thumbnail.id FROM json_each(?) AS wanted CROSS JOIN thumbnail ON thumbnail.id = wanted.value"
        )
        let list = JSONValue.array(ids.map { .string($0.text) }).canonicalText
        return try String.fetchSet(statement, arguments: [list])
    }

    /// Finds a thumbnail; nil if it has not been made.
    static func thumbnail(_ id: ThumbnailID, _ db: SQLiteTransaction) throws -> Thumbnail? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT thumbnail.blob, thumbnail.source_digest, format, width, height, updated_at, has_alpha, frames,
                  thumb_hash, blur_hash, dominant_color, source_format, source_width, source_height, source_pages,
                  source_has_alpha, source_is_animated, is_truncated, source_video, blob.size,
                  iif(source_video IS NULL, NULL, json_extract(rendition, '$.storyboard')) AS storyboard
                FROM thumbnail JOIN blob ON blob.digest = thumbnail.blob
                WHERE thumbnail.id = ?
                """
        )
        guard let row = try Row.fetchOne(statement, arguments: [id.text]) else { return nil }
        guard let blob = BlobDigest(hex: row["blob"] as String),
            let source = BlobDigest(hex: row["source_digest"] as String),
            let format = Rendition.Format(rawValue: row["format"])
        else { throw StoreError.failed("thumbnail \(id) has a malformed row") }
        return Thumbnail(
            id: id,
            blob: blob,
            width: row["width"],
            height: row["height"],
            format: format,
            bytes: row["size"],
            sourceDigest: source,
            updatedAt: Date(milliseconds: row["updated_at"]),
            facts: try facts(of: id, row),
            storyboard: try (row["storyboard"] as String?).map {
                try Rendition.Storyboard(json: try JSONValue(parsing: $0.utf8), at: "storyboard")
            }
        )
    }

    private static func facts(of id: ThumbnailID, _ row: Row) throws -> ThumbnailFacts {
        guard let color = Color(row["dominant_color"] as String),
            let format = PictureFormat(rawValue: row["source_format"])
        else { throw StoreError.failed("thumbnail \(id) has a malformed row") }
        return ThumbnailFacts(
            hasAlpha: row["has_alpha"],
            frames: row["frames"],
            placeholder: Placeholder(
                thumbHash: row["thumb_hash"],
                blurHash: row["blur_hash"],
                dominantColor: color
            ),
            source: PictureFacts(
                format: format,
                width: row["source_width"],
                height: row["source_height"],
                pages: row["source_pages"],
                hasAlpha: row["source_has_alpha"],
                video: try (row["source_video"] as String?).map {
                    try WireFormat.decode(VideoFacts.self, from: Data($0.utf8))
                }
            ),
            isTruncated: row["is_truncated"]
        )
    }
}
