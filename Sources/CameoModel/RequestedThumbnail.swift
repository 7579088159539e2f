/// A thumbnail that a job asks for: its URI always, the rest once it exists.
///
/// JSON form: `proto-json/job.schema.json#/$defs/requestedThumbnail`.
package struct RequestedThumbnail: Hashable, Codable, Sendable {
    /// What the thumbnail was made of.
    package struct Source: Hashable, Codable, Sendable {
        /// A ``PictureFormat``, or one of a newer version.
        package let format: String
        /// Pixels of the first page, upright.
        package let width: Int
        package let height: Int
        /// Pages or frames.
        package let pages: Int
        package let hasAlpha: Bool
        /// Whether its pages are frames in time, and more than one.
        package let isAnimated: Bool

        init(_ facts: PictureFacts) {
            format = facts.format.rawValue
            width = facts.width
            height = facts.height
            pages = facts.pages
            hasAlpha = facts.hasAlpha
            isAnimated = facts.isAnimated
        }
    }

    /// The rendition's name.
    package let name: String
    /// `cameo://thumb/<id>`
    package let uri: String
    /// `cameo://blob/sha256-<64 hex>`
    package let blob: String?
    /// Pixels.
    package let width: Int?
    package let height: Int?
    package let format: String?
    package let bytes: Int?
    // From here on nil also for a thumbnail that was made before facts were recorded.
    package let hasAlpha: Bool?
    package let frames: Int?
    /// Whether it has more than one frame.
    package let isAnimated: Bool?
    /// Base64 with padding.
    package let thumbHash: String?
    package let blurHash: String?
    /// `#rrggbb`
    package let dominantColor: String?
    package let source: Source?
    /// Nil, or true: the source was cut off, and the thumbnail shows what there was of it.
    package let truncated: Bool?

    package init(name: String, id: ThumbnailID, thumbnail: Thumbnail?) {
        self.name = name
        uri = CameoURI.thumbnail(id).text
        blob = thumbnail.map { CameoURI.blob($0.blob).text }
        width = thumbnail?.width
        height = thumbnail?.height
        format = thumbnail?.format.rawValue
        bytes = thumbnail?.bytes
        let facts = thumbnail?.facts
        hasAlpha = facts?.hasAlpha
        frames = facts?.frames
        isAnimated = facts.map { $0.frames > 1 }
        thumbHash = facts?.placeholder.thumbHash
        blurHash = facts?.placeholder.blurHash
        dominantColor = facts?.placeholder.dominantColorText
        source = facts.map { Source($0.source) }
        truncated = facts?.isTruncated == true ? true : nil
    }
}
