internal import CameoModel
internal import Foundation

/// A thumbnail that a job makes: its name at once, what it is once it exists.
public struct Thumbnail: Hashable, Sendable {
    /// What the bytes are.
    public struct Facts: Hashable, Sendable {
        /// The immutable bytes that ``Thumbnail/uri`` stands for now.
        public let blob: CameoURI
        /// Pixels.
        public let width: Int
        /// Pixels.
        public let height: Int
        /// `webp`, `jpeg`, …
        public let format: String
        /// Length of the blob.
        public let bytes: Int
        /// A ThumbHash (https://evanw.github.io/thumbhash/) in base64, to show before the thumbnail has been loaded.
        public let thumbHash: String?
        /// Likewise, a BlurHash (https://blurha.sh).
        public let blurHash: String?
        /// `#rrggbb`
        public let dominantColor: String?
    }

    /// The rendition's name.
    public let name: String
    /// `cameo://thumb/<id>`, known before anything is rendered.
    public let uri: CameoURI
    /// Nil until the thumbnail has been made.
    public let facts: Facts?

    static func all(_ models: [RequestedThumbnail]) throws(CameoError) -> [Thumbnail] {
        var thumbnails: [Thumbnail] = []
        for model in models { thumbnails.append(try Thumbnail(model)) }
        return thumbnails
    }

    private init(_ model: RequestedThumbnail) throws(CameoError) {
        name = model.name
        uri = try Self.uri(model.uri)
        if let blob = model.blob, let width = model.width, let height = model.height, let format = model.format,
            let bytes = model.bytes
        {
            facts = Facts(
                blob: try Self.uri(blob),
                width: width,
                height: height,
                format: format,
                bytes: bytes,
                thumbHash: model.thumbHash,
                blurHash: model.blurHash,
                dominantColor: model.dominantColor
            )
        } else {
            facts = nil
        }
    }

    private static func uri(_ text: String) throws(CameoError) -> CameoURI {
        guard let uri = CameoURI(text) else { throw .storeUnavailable(reason: "\(text) is not a cameo: URI") }
        return uri
    }
}
