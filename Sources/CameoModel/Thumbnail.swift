package import Foundation

/// A thumbnail as the store knows it: what was made, of what, and which blob holds it.
package struct Thumbnail: Hashable, Sendable {
    package let id: ThumbnailID
    package let blob: BlobDigest
    /// Pixels.
    package let width: Int
    package let height: Int
    package let format: Rendition.Format
    /// Length of the blob.
    package let bytes: Int
    package let sourceDigest: BlobDigest
    package let updatedAt: Date
    /// Nil for one that was made before they were recorded (schema version 1).
    package let facts: ThumbnailFacts?

    package init(
        id: ThumbnailID,
        blob: BlobDigest,
        width: Int,
        height: Int,
        format: Rendition.Format,
        bytes: Int,
        sourceDigest: BlobDigest,
        updatedAt: Date,
        facts: ThumbnailFacts?
    ) {
        self.id = id
        self.blob = blob
        self.width = width
        self.height = height
        self.format = format
        self.bytes = bytes
        self.sourceDigest = sourceDigest
        self.updatedAt = updatedAt
        self.facts = facts
    }
}

extension Rendition.Format {
    /// The media type of what this format writes; nil for `auto` and `source`, which are none by themselves.
    package var mediaType: String? {
        switch self {
        case .auto, .source: nil
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        case .webp: "image/webp"
        case .avif: "image/avif"
        case .gif: "image/gif"
        }
    }

    /// The usual ending of a file name, without its dot.
    package var fileExtension: String {
        switch self {
        case .auto, .source: "bin"
        case .jpeg: "jpg"
        case .png: "png"
        case .webp: "webp"
        case .avif: "avif"
        case .gif: "gif"
        }
    }
}
