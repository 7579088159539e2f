/// A thumbnail that a job asks for: its URI always, the rest once it exists.
///
/// JSON form: `proto-json/job.schema.json#/$defs/requestedThumbnail`.
public struct RequestedThumbnail: Hashable, Codable, Sendable {
    /// What the thumbnail was made of.
    public struct Source: Hashable, Codable, Sendable {
        /// `jpeg`, `heif`, …
        public let format: String
        /// Pixels of the first page, upright.
        public let width, height: Int
        /// Pages or frames.
        public let pages: Int
        /// Whether any of its pixels may be transparent.
        public let hasAlpha: Bool
        /// Whether its pages are frames in time, and more than one.
        public let isAnimated: Bool

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
    public let name: String
    /// `cameo://thumb/<id>`
    public let uri: CameoURI
    /// The immutable bytes that ``uri`` stands for now; nil until the thumbnail has been made.
    public let blob: CameoURI?
    /// Pixels.
    public let width, height: Int?
    /// `webp`, `jpeg`, …
    public let format: String?
    /// Length of the blob.
    public let bytes: Int?
    // From here on nil also for a thumbnail that was made before facts were recorded.
    /// Whether any of its pixels may be transparent.
    public let hasAlpha: Bool?
    /// 1 for a still picture.
    public let frames: Int?
    /// Whether it has more than one frame.
    public let isAnimated: Bool?
    /// A ThumbHash (https://evanw.github.io/thumbhash/) in base64, to show before the thumbnail has been loaded.
    public let thumbHash: String?
    /// A BlurHash (https://blurha.sh), likewise.
    public let blurHash: String?
    /// `#rrggbb`
    public let dominantColor: String?
    /// What the thumbnail was made of.
    public let source: Source?
    /// Nil, or true: the source was cut off, and the thumbnail shows what there was of it.
    public let truncated: Bool?

    package init(name: String, id: ThumbnailID, thumbnail: Thumbnail?) {
        self.name = name
        uri = .thumbnail(id)
        blob = thumbnail.map { .blob($0.blob) }
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
