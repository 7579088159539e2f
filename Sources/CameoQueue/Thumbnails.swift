package import CameoModel
package import CameoStore
package import Foundation

/// The thumbnails that a store has, and how they are stored.
extension QueueTransaction {
    /// The thumbnails whose id meets a condition on `?1`.
    private func thumbnails(whoseID condition: String, _ value: some SQLBindable) throws -> [Thumbnail] {
        try thumbnails(whoseID: condition, value, and: "") { thumbnail, _ in thumbnail }
    }

    /// The same with what else of their rows is read: `columns` begins with a comma.
    func thumbnails<Read>(
        whoseID condition: String,
        _ value: some SQLBindable,
        and columns: String,
        _ read: (Thumbnail, QueueRow) throws -> Read
    ) throws -> [Read] {
        try query(
            """
            SELECT \(ThumbnailColumn.shown), blob.size AS size, storyboard\(columns)
            FROM shown_thumbnail AS thumbnail JOIN blob ON blob.digest = thumbnail.blob WHERE thumbnail.id \(condition)
            """,
            [value]
        )
        .map { try read(Thumbnail($0), $0) }
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
        .map { row in
            try (id: row["id"] as String, overlay: row["overlay_digest"] as String?, blob: row["blob"] as String)
        }
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

/// The columns of `thumbnail`, in the order of statements.
private enum ThumbnailColumn: Int, CaseIterable {
    case id, blob, width, height, format, frames, sourceDigest, updatedAt, hasAlpha, thumbHash, blurHash, dominantColor
    case sourceFormat, sourceWidth, sourceHeight, sourcePages, sourceHasAlpha, isTruncated, sourceVideo, sourceOmitted,
        sourceSize
    case takenAt, camera
    // Not read with the others.
    case overlayDigest, sourceSeen, rendererVersion, jobId, sourceIsAnimated
    // These stay when it is made again.
    case source, rendition, createdAt

    static let names = allCases.map { column in
        "\(column)".replacing(#/[A-Z]/#) { "_\($0.output.lowercased())" }
    }
    static let changing = Array(names[1..<source.rawValue])
    static let shown = names[..<overlayDigest.rawValue].map { "thumbnail.\($0)" }.list
}

extension QueueRow {
    /// A column of a row that ``ThumbnailColumn/shown`` begins.
    fileprivate subscript<Value: SQLReadable>(_ column: ThumbnailColumn) -> Value {
        get throws { try self[column.rawValue] }
    }
    fileprivate subscript<Value: SQLReadable>(_ column: ThumbnailColumn) -> Value? {
        get throws { try self[column.rawValue] }
    }
}

extension Thumbnail {
    fileprivate init(_ row: QueueRow) throws {
        let name: String = try row[.id]
        guard let id = ThumbnailID(name), let blob = BlobDigest(hex: try row[.blob] as String),
            let sourceDigest = BlobDigest(hex: try row[.sourceDigest] as String),
            let format = Rendition.Format(rawValue: try row[.format]), let color = Color(try row[.dominantColor]),
            let sourceFormat = PictureFormat(rawValue: try row[.sourceFormat])
        else { throw StoreError.failed("thumbnail \(name) has a malformed row") }
        self.init(
            id: id,
            blob: blob,
            encoded: EncodedRendition(
                byteCount: try row["size"],
                width: try row[.width],
                height: try row[.height],
                format: format,
                hasAlpha: try row[.hasAlpha],
                frames: try row[.frames],
                placeholder: Placeholder(
                    thumbHash: try row[.thumbHash],
                    blurHash: try row[.blurHash],
                    dominantColor: color
                )
            ),
            source: PictureFacts(
                format: sourceFormat,
                width: try row[.sourceWidth],
                height: try row[.sourceHeight],
                pages: try row[.sourcePages],
                hasAlpha: try row[.sourceHasAlpha],
                video: try (row[.sourceVideo] as String?).map {
                    try WireFormat.decode(VideoFacts.self, from: Data($0.utf8))
                },
                omitted: try (row[.sourceOmitted] as String?).map {
                    try WireFormat.decode([String].self, from: Data($0.utf8)).compactMap(PictureFacts.Part.init)
                } ?? [],
                taken: PictureFacts.Taken(at: try row[.takenAt], camera: try row[.camera])
            ),
            sourceDigest: sourceDigest,
            isTruncated: try row[.isTruncated],
            updatedAt: Date(milliseconds: try row[.updatedAt]),
            storyboard: try (row["storyboard"] as String?).map {
                try Rendition.Storyboard(json: try JSONValue(parsing: $0.utf8), at: "storyboard")
            }
        )
    }
}

extension RenderedThumbnail {
    /// The statement that stores a thumbnail (invariant I4): an older fetch never replaces a newer one's.
    package static let upsertion = """
        \(ThumbnailColumn.names.insertion(into: "thumbnail"))
        ON CONFLICT (id) DO UPDATE SET \(ThumbnailColumn.changing.replacement)
        WHERE excluded.source_seen >= thumbnail.source_seen
        """

    /// The values of ``upsertion``.
    package func values(
        _ blob: BlobDigest,
        from provenance: Provenance,
        jobID: Int64,
        now: Int64
    ) throws -> [(any SQLBindable)?] {
        let source = encoded.source ?? provenance.picture
        return try ThumbnailColumn.allCases.map { column in
            switch column {
            case .id: id.text
            case .blob: blob.hex
            case .width: encoded.width
            case .height: encoded.height
            case .format: encoded.format.rawValue
            case .frames: encoded.frames
            case .sourceDigest: provenance.sourceDigest.hex
            case .updatedAt, .createdAt: now
            case .hasAlpha: encoded.hasAlpha
            case .thumbHash: encoded.placeholder.thumbHash
            case .blurHash: encoded.placeholder.blurHash
            case .dominantColor: encoded.placeholder.dominantColorText
            case .sourceFormat: source.format.rawValue
            case .sourceWidth: source.width
            case .sourceHeight: source.height
            case .sourcePages: source.pages
            case .sourceHasAlpha: source.hasAlpha
            case .isTruncated: provenance.isTruncated
            case .sourceVideo: try source.video.map { String(decoding: try WireFormat.encode($0), as: UTF8.self) }
            case .sourceOmitted:
                source.omitted.isEmpty
                    ? nil : JSONValue.array(source.omitted.map { .string($0.rawValue) }).canonicalText
            case .sourceSize: provenance.sourceSize
            case .takenAt: source.taken?.at
            case .camera: source.taken?.camera
            case .overlayDigest: overlayDigest?.hex
            case .sourceSeen: provenance.sourceSeen
            case .rendererVersion: provenance.rendererVersion
            case .jobId: jobID
            case .sourceIsAnimated: source.isAnimated
            case .source: provenance.source
            case .rendition: rendition.json.canonicalText
            }
        }
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
