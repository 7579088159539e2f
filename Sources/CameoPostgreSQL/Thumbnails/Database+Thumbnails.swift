internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

extension Database {
    private static let columns = """
        thumbnail.id, thumbnail.blob, thumbnail.source_digest, format, width, height, updated_at, has_alpha, frames,
          thumb_hash, blur_hash, dominant_color, source_format, source_width, source_height, source_pages,
          source_has_alpha, is_truncated, source_video, blob.size,
          CASE WHEN source_video IS NOT NULL THEN rendition ->> 'storyboard' END
        """

    /// The ids of those of these thumbnails that the store has.
    func existing(_ ids: [ThumbnailID]) throws -> Set<String> {
        guard !ids.isEmpty else { return [] }
        let known: [String] = try column(
            "SELECT id FROM thumbnail WHERE id = ANY($1::text[])",
            [SQLArray(ids.map(\.text))]
        )
        return Set(known)
    }

    /// Finds a thumbnail; nil if it has not been made.
    func thumbnail(_ id: ThumbnailID) throws -> Thumbnail? { try thumbnails([id])[id] }

    /// Those of these thumbnails that the store has.
    func thumbnails(_ ids: [ThumbnailID]) throws -> [ThumbnailID: Thumbnail] {
        guard !ids.isEmpty else { return [:] }
        let rows = try query(
            """
            SELECT \(Self.columns) FROM thumbnail JOIN blob ON blob.digest = thumbnail.blob
            WHERE thumbnail.id = ANY($1::text[])
            """,
            [SQLArray(ids.map(\.text))]
        )
        return try rows.reduce(into: [:]) { thumbnails, row in
            let thumbnail = try Thumbnail(row)
            thumbnails[thumbnail.id] = thumbnail
        }
    }

    /// Records that thumbnails were used, unless a use was recorded within the last hour.
    func noteUse(of thumbnails: [ThumbnailID]) throws {
        guard !thumbnails.isEmpty else { return }
        try execute(
            """
            UPDATE thumbnail SET read_at = $1 WHERE id IN (
              SELECT id FROM thumbnail WHERE id = ANY($2::text[]) AND used_at <= $3 ORDER BY id FOR UPDATE)
            """,
            [now, SQLArray(thumbnails.map(\.text)), now - Int64(Retention.readingStep.milliseconds)]
        )
    }
}

extension Thumbnail {
    fileprivate init(_ row: Row) throws {
        let (name, blob, source): (String, String, String) = (try row[0], try row[1], try row[2])
        let (format, color, sourceFormat): (String, String, String) = (try row[3], try row[11], try row[12])
        guard let id = ThumbnailID(name), let digest = BlobDigest(hex: blob),
            let sourceDigest = BlobDigest(hex: source),
            let format = Rendition.Format(rawValue: format), let color = Color(color),
            let sourceFormat = PictureFormat(rawValue: sourceFormat)
        else { throw StoreError.failed("thumbnail \(name) has a malformed row") }
        let (video, storyboard): (String?, String?) = (try row[18], try row[20])
        self.init(
            id: id,
            blob: digest,
            width: try row[4],
            height: try row[5],
            format: format,
            bytes: try row[19],
            sourceDigest: sourceDigest,
            updatedAt: Date(milliseconds: try row[6]),
            facts: ThumbnailFacts(
                hasAlpha: try row[7],
                frames: try row[8],
                placeholder: Placeholder(thumbHash: try row[9], blurHash: try row[10], dominantColor: color),
                source: PictureFacts(
                    format: sourceFormat,
                    width: try row[13],
                    height: try row[14],
                    pages: try row[15],
                    hasAlpha: try row[16],
                    video: try video.map { try WireFormat.decode(VideoFacts.self, from: Data($0.utf8)) }
                ),
                isTruncated: try row[17]
            ),
            storyboard: try storyboard.map {
                try Rendition.Storyboard(json: try JSONValue(parsing: $0.utf8), at: "storyboard")
            }
        )
    }
}
