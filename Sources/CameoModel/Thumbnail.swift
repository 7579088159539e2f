package import Foundation

/// A stored thumbnail: its properties, its source and its blob.
package struct Thumbnail: Hashable, Sendable {
    package let id: ThumbnailID
    package let blob: BlobDigest
    /// Width and height are in pixels.
    package let width: Int
    package let height: Int
    package let format: Rendition.Format
    /// The size of the blob in bytes.
    package let bytes: Int
    package let sourceDigest: BlobDigest
    package let updatedAt: Date
    package let facts: ThumbnailFacts
    /// Set if it was asked for as a storyboard of a video.
    package let storyboard: Rendition.Storyboard?

    package init(
        id: ThumbnailID,
        blob: BlobDigest,
        width: Int,
        height: Int,
        format: Rendition.Format,
        bytes: Int,
        sourceDigest: BlobDigest,
        updatedAt: Date,
        facts: ThumbnailFacts,
        storyboard: Rendition.Storyboard? = nil
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
        self.storyboard = storyboard
    }
}

extension Rendition.Format {
    /// The media type of the format; nil for `auto` and `source`, which do not name one.
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

    /// The usual file name extension, without the dot.
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
