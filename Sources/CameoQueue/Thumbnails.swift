package import CameoModel
package import CameoStore
package import Foundation

extension QueueTransaction {
    /// The thumbnails whose id meets a condition on `?1`.
    private func thumbnails(whoseID condition: String, _ value: some SQLBindable) throws -> [Thumbnail] {
        try query(
            """
            SELECT thumbnail.id AS id, thumbnail.blob AS blob, thumbnail.source_digest AS source_digest, format, width, height,
              updated_at, has_alpha, frames, thumb_hash, blur_hash, dominant_color, source_format, source_width,
              source_height, source_pages, source_has_alpha, is_truncated, source_video, source_omitted, blob.size AS size,
              storyboard
            FROM shown_thumbnail AS thumbnail JOIN blob ON blob.digest = thumbnail.blob WHERE thumbnail.id \(condition)
            """,
            [value]
        )
        .map { try Thumbnail($0) }
    }

    /// Finds a thumbnail; nil if it has not been made.
    package func thumbnail(_ id: ThumbnailID) throws -> Thumbnail? { try thumbnails(whoseID: "= ?1", id.text).first }

    /// What a thumbnail's name refers to; nil if it has not been made.
    package func content(of id: ThumbnailID) throws -> StoredContent? {
        let row = try row("SELECT blob, format, updated_at FROM thumbnail WHERE id = ?1", [id.text])
        guard let row, let digest = BlobDigest(hex: try row["blob"] as String) else { return nil }
        let format = Rendition.Format(rawValue: try row["format"])
        return StoredContent(thumbnail: digest, format, updatedAt: Date(milliseconds: try row["updated_at"]))
    }

    /// Those of these thumbnails that the store has.
    package func thumbnails(_ ids: [ThumbnailID]) throws -> [ThumbnailID: Thumbnail] {
        guard ids.count > 1 else {
            return try ids.first.flatMap { try thumbnail($0) }.map { [$0.id: $0] } ?? [:]
        }
        return try thumbnails(whoseID: dialect.isIn("?1", .texts), ids.map(\.text))
            .reduce(into: [:]) { found, thumbnail in found[thumbnail.id] = thumbnail }
    }

    /// The ids of those of these thumbnails that the store has.
    package func existing(_ ids: [ThumbnailID]) throws -> Set<String> {
        guard !ids.isEmpty else { return [] }
        return try Set(column("SELECT id FROM thumbnail WHERE id \(dialect.isIn("?1", .texts))", [ids.map(\.text)]))
    }

    /// The blobs of those of the thumbnails that were made from the same bytes by the same renderer.
    func blobs(of thumbnails: [ThumbnailID], as seen: Revalidation) throws -> [BlobDigest] {
        let made = try query(
            """
            SELECT id, overlay_digest, blob FROM thumbnail
            WHERE id \(dialect.isIn("?1", .texts)) AND source_digest = ?2 AND renderer_version = ?3
            """,
            [thumbnails.map(\.text), seen.sourceDigest.hex, seen.rendererVersion]
        )
        .map { row in try (id: row[0] as String, overlay: row[1] as String?, blob: row[2] as String) }
        return zip(thumbnails, seen.overlayDigests).compactMap { id, overlay in
            made.first { $0.id == id.text && $0.overlay == overlay?.hex }.flatMap { BlobDigest(hex: $0.blob) }
        }
    }

    package func noteUse(of thumbnails: [ThumbnailID]) throws {
        guard !thumbnails.isEmpty else { return }
        try execute(
            """
            UPDATE thumbnail SET read_at = ?1 WHERE id IN (
              SELECT id FROM thumbnail WHERE id \(dialect.isIn("?2", .texts)) AND used_at <= ?3)
            """,
            [now, thumbnails.map(\.text), now - Int64(Retention.readingStep.milliseconds)]
        )
    }

    /// The thumbnails behind the names whose last recorded use is more than a step ago.
    package func thumbnails(dueBy names: Set<CameoURI>) throws -> [ThumbnailID] {
        var (ids, digests) = ([String](), [String]())
        for name in names {
            switch name {
            case .thumbnail(let id): ids.append(id.text)
            case .blob(let digest): digests.append(digest.hex)
            case .source: break
            }
        }
        let due: [String] = try column(
            """
            SELECT id FROM thumbnail WHERE +used_at <= ?3
              AND (id \(dialect.isIn("?1", .texts)) OR blob \(dialect.isIn("?2", .texts)))
            """,
            [ids, digests, now - Int64(Retention.readingStep.milliseconds)]
        )
        return due.compactMap { ThumbnailID($0) }
    }

    /// The existing thumbnails of a request if they are all known to be fresh (invariant I5); nil if a job is needed. A
    /// request with a later `runAt` always needs one, so that freshness is checked then.
    package func freshThumbnails(of new: NewJob) throws -> [Thumbnail]? {
        let request = new.request
        guard request.refresh != .always, request.runAt.map({ $0.milliseconds <= now }) ?? true else { return nil }
        let found = try thumbnails(new.wanted.map(\.id))
        let thumbnails = new.wanted.compactMap { found[$0.id] }
        guard thumbnails.count == new.wanted.count else { return nil }
        if request.refresh == .never { return thumbnails }
        // The freshness of overlays is not recorded, so an overlay that may change must be fetched.
        guard request.overlaySources.allSatisfy(isUnchanging) else { return nil }
        if isUnchanging(request.source) { return thumbnails }
        let digest = try freshBytes(of: request)
        return thumbnails.allSatisfy { $0.sourceDigest == digest } ? thumbnails : nil
    }

    /// The bytes of the cached answer of a request's source; nil unless there is one that is known to be fresh.
    private func freshBytes(of request: ThumbnailRequest) throws -> BlobDigest? {
        var key = SourceKey(uri: request.source, scope: RequestScope(headers: request.headers))
        if case .source(let uri) = CameoURI(request.source) { key = SourceKey(uri: uri, scope: nil) }
        // Only the fetcher can decide whether an answer with Vary applies to a request.
        let hex: String? = try value(
            """
            SELECT blob FROM (
              SELECT * FROM source WHERE \(dialect.sourceOfKey) ORDER BY source_seen DESC, responded_at DESC LIMIT 1) AS newest
            WHERE variant = '' AND (pinned OR fresh_until > ?3)
            """,
            [key.uri, key.scopeText, now]
        )
        return hex.flatMap(BlobDigest.init(hex:))
    }

    /// Whether a source's name identifies its content: bytes by digest, a drawing by its text.
    private func isUnchanging(_ source: String) -> Bool {
        switch SourceScheme(of: source) {
        case .data, .initials: return true
        case .cameo: if case .blob = CameoURI(source) { return true } else { return false }
        case .file, .http, .https, nil: return false
        }
    }

    /// The requests that existing thumbnails may answer, by their indexes, with the blobs of these: whether the blobs are
    /// whole is looked up before the transaction.
    package func answerable(_ new: [CheckedRequest]) throws -> [(index: Int, blobs: [BlobDigest])] {
        // Most requests are new; one statement tells which are not.
        let known = try existing(new.flatMap { $0.job.wanted.map(\.id) })
        return try new.enumerated().compactMap { index, new in
            guard !new.needsJob, new.job.wanted.allSatisfy({ known.contains($0.id.text) }) else { return nil }
            return try freshThumbnails(of: new.job).map { (index, $0.map(\.blob)) }
        }
    }

    /// Records stored bytes that turned out not to be needed. Triggers only see blobs that were referenced once.
    package func noteOrphan(_ digest: BlobDigest) throws {
        try execute("INSERT INTO orphan VALUES (?1, ?2) ON CONFLICT DO NOTHING", [digest.hex, now])
    }
}

/// The requests that existing thumbnails may answer, as was found out before the transaction.
package struct MadeThumbnails: Sendable {
    /// The indexes of requests that may need no job.
    private let answered: Set<Int>
    /// Blobs that are missing or damaged, whose thumbnails need a job.
    private let damaged: Set<BlobDigest>

    package init(answered: Set<Int>, damaged: Set<BlobDigest>) {
        (self.answered, self.damaged) = (answered, damaged)
    }

    /// The thumbnails that answer a request; nil if a job is needed. Those made since then by another process are left to
    /// a job.
    package func answer(to new: CheckedRequest, at index: Int, _ db: some QueueTransaction) throws -> [Thumbnail]? {
        guard answered.contains(index), let thumbnails = try db.freshThumbnails(of: new.job) else { return nil }
        return damaged.isDisjoint(with: thumbnails.map(\.blob)) ? thumbnails : nil
    }
}

extension Thumbnail {
    fileprivate init(_ row: some QueueRow) throws {
        let name: String = try row["id"]
        guard let id = ThumbnailID(name), let blob = BlobDigest(hex: try row["blob"] as String),
            let sourceDigest = BlobDigest(hex: try row["source_digest"] as String),
            let format = Rendition.Format(rawValue: try row["format"]), let color = Color(try row["dominant_color"]),
            let sourceFormat = PictureFormat(rawValue: try row["source_format"])
        else { throw StoreError.failed("thumbnail \(name) has a malformed row") }
        self.init(
            id: id,
            blob: blob,
            width: try row["width"],
            height: try row["height"],
            format: format,
            bytes: try row["size"],
            sourceDigest: sourceDigest,
            updatedAt: Date(milliseconds: try row["updated_at"]),
            facts: ThumbnailFacts(
                hasAlpha: try row["has_alpha"],
                frames: try row["frames"],
                placeholder: Placeholder(
                    thumbHash: try row["thumb_hash"],
                    blurHash: try row["blur_hash"],
                    dominantColor: color
                ),
                source: PictureFacts(
                    format: sourceFormat,
                    width: try row["source_width"],
                    height: try row["source_height"],
                    pages: try row["source_pages"],
                    hasAlpha: try row["source_has_alpha"],
                    video: try (row["source_video"] as String?).map {
                        try WireFormat.decode(VideoFacts.self, from: Data($0.utf8))
                    },
                    omitted: try (row["source_omitted"] as String?).map {
                        try WireFormat.decode([String].self, from: Data($0.utf8)).compactMap(PictureFacts.Part.init)
                    } ?? []
                ),
                isTruncated: try row["is_truncated"]
            ),
            storyboard: try (row["storyboard"] as String?).map {
                try Rendition.Storyboard(json: try JSONValue(parsing: $0.utf8), at: "storyboard")
            }
        )
    }
}

extension RenderedThumbnail {
    /// The statement that stores a thumbnail (invariant I4): an older fetch never replaces a newer one's.
    package static let upsertion = """
        INSERT INTO thumbnail(id, blob, width, height, format, source, rendition, source_digest, overlay_digest,
          source_seen, renderer_version, job_id, created_at, updated_at, has_alpha, frames, thumb_hash, blur_hash,
          dominant_color, source_format, source_width, source_height, source_pages, source_has_alpha,
          source_is_animated, is_truncated, source_video, source_omitted)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
          ?22, ?23, ?24, ?25, ?26, ?27)
        ON CONFLICT (id) DO UPDATE SET
          \(replacement)
        WHERE excluded.source_seen >= thumbnail.source_seen
        """

    /// The columns that change when a thumbnail is made again.
    private static let replacement = [
        "blob", "width", "height", "format", "source_digest", "overlay_digest", "source_seen", "renderer_version",
        "job_id", "updated_at", "has_alpha", "frames", "thumb_hash", "blur_hash", "dominant_color", "source_format",
        "source_width", "source_height", "source_pages", "source_has_alpha", "source_is_animated", "is_truncated",
        "source_video", "source_omitted",
    ]
    .map { "\($0) = excluded.\($0)" }.joined(separator: ", ")

    /// The values of ``upsertion``.
    package func values(
        _ blob: BlobDigest,
        from provenance: Provenance,
        jobID: Int64,
        now: Int64
    ) throws -> [(any SQLBindable)?] {
        let source = encoded.source ?? provenance.picture
        let own: [(any SQLBindable)?] = [
            id.text, blob.hex, encoded.width, encoded.height, encoded.format.rawValue, provenance.source,
            rendition.json.canonicalText, provenance.sourceDigest.hex, overlayDigest?.hex, provenance.sourceSeen,
            provenance.rendererVersion, jobID, now,
        ]
        let facts: [(any SQLBindable)?] = [
            encoded.hasAlpha, encoded.frames, encoded.placeholder.thumbHash, encoded.placeholder.blurHash,
            encoded.placeholder.dominantColorText, source.format.rawValue, source.width, source.height, source.pages,
            source.hasAlpha, source.isAnimated, provenance.isTruncated,
            try source.video.map { String(decoding: try WireFormat.encode($0), as: UTF8.self) },
            source.omitted.isEmpty
                ? nil : JSONValue.array(source.omitted.map { .string($0.rawValue) }).canonicalText,
        ]
        return own + facts
    }
}

/// A blob whose bytes are durable or go into its row, ready to be referenced by another row.
package struct PreparedBlob: Sendable {
    package let digest: BlobDigest
    package let size: Int
    /// The bytes; nil if they are outside of the database.
    package let data: Data?
    package let mediaType: String?

    package init(digest: BlobDigest, size: Int, data: Data?, mediaType: String?) {
        (self.digest, self.size, self.data, self.mediaType) = (digest, size, data, mediaType)
    }

    /// Inserts the row or makes it young.
    package func insert(_ db: some QueueTransaction) throws {
        try insert(db, "UPDATE SET data = excluded.data, created_at = excluded.created_at")
    }

    /// Gives the bytes an unreferenced row, so that collection finds them. An existing row is left unchanged.
    package func leave(_ db: some QueueTransaction) throws {
        try insert(db, "NOTHING")
        try db.noteOrphan(digest)
    }

    /// Inserts the row before the bytes are in their place outside of the database. An existing row becomes young, and keeps
    /// what it has: it may be referenced, and the bytes may never come.
    package func announce(_ db: some QueueTransaction) throws {
        try insert(db, "UPDATE SET created_at = excluded.created_at")
        try db.noteOrphan(digest)
    }

    private func insert(_ db: some QueueTransaction, _ orElse: String) throws {
        try db.execute(
            """
            INSERT INTO blob(digest, size, data, media_type, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (digest) DO \(orElse)
            """,
            [digest.hex, size, data, mediaType, db.now]
        )
    }
}

/// A thumbnail with the blob of its bytes.
package typealias PreparedThumbnail = (thumbnail: RenderedThumbnail, blob: PreparedBlob)
