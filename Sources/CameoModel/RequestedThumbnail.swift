/// A thumbnail that a job asks for: its URI, and its details once it exists.
///
/// JSON form: `proto-json/job.schema.json#/$defs/requestedThumbnail`.
public struct RequestedThumbnail: Hashable, Codable, Sendable {
    /// The source that the thumbnail was made from.
    public struct Source: Hashable, Codable, Sendable {
        /// `jpeg`, `heif`, …
        public let format: String
        /// Width and height of the first page in pixels, upright.
        public let width, height: Int
        /// The number of pages or frames.
        public let pages: Int
        /// Whether any pixel may be transparent.
        public let hasAlpha: Bool
        /// Whether the pages are frames in time and there is more than one.
        public let isAnimated: Bool
        /// What is known of a video; nil for pictures.
        public let video: VideoFacts?
        /// The parts of the source that the thumbnail leaves out: `animation`, `colorProfile`, …; nil if there are none.
        public let omitted: [String]?

        init(_ facts: PictureFacts) {
            format = facts.format.rawValue
            width = facts.width
            height = facts.height
            pages = facts.pages
            hasAlpha = facts.hasAlpha
            isAnimated = facts.isAnimated
            video = facts.video
            omitted = facts.omitted.isEmpty ? nil : facts.omitted.map(\.rawValue)
        }
    }

    /// The rendition's name.
    public let name: String
    /// `cameo://thumb/<id>`
    public let uri: CameoURI
    /// The immutable bytes that ``uri`` currently resolves to; nil until the thumbnail has been made.
    public let blob: CameoURI?
    /// Width and height in pixels.
    public let width, height: Int?
    /// `webp`, `jpeg`, …
    public let format: String?
    /// The size of the blob in bytes.
    public let bytes: Int?
    /// Whether any pixel may be transparent.
    public let hasAlpha: Bool?
    /// 1 for a still picture.
    public let frames: Int?
    /// Whether there is more than one frame.
    public let isAnimated: Bool?
    /// A ThumbHash (https://evanw.github.io/thumbhash/) in base64, to show before the thumbnail has been loaded.
    public let thumbHash: String?
    /// A BlurHash (https://blurha.sh), to show before the thumbnail has been loaded.
    public let blurHash: String?
    /// `#rrggbb`
    public let dominantColor: String?
    /// The source that the thumbnail was made from.
    public let source: Source?
    /// True if the source was truncated and the thumbnail shows only part of it; otherwise nil.
    public let truncated: Bool?

    package init(name: String, id: ThumbnailID, thumbnail: Thumbnail?) {
        self.name = name
        uri = .thumbnail(id)
        blob = thumbnail.map { .blob($0.blob) }
        width = thumbnail?.width
        height = thumbnail?.height
        format = thumbnail?.format.rawValue
        bytes = thumbnail?.bytes
        hasAlpha = thumbnail?.hasAlpha
        frames = thumbnail?.frames
        isAnimated = thumbnail.map { $0.frames > 1 }
        thumbHash = thumbnail?.placeholder.thumbHash
        blurHash = thumbnail?.placeholder.blurHash
        dominantColor = thumbnail?.placeholder.dominantColorText
        source = thumbnail.map { Source($0.source) }
        truncated = thumbnail?.isTruncated == true ? true : nil
    }
}
