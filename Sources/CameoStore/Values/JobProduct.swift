package import CameoModel

/// A rendered thumbnail to be stored.
package struct RenderedThumbnail: Sendable {
    package let id: ThumbnailID
    package let rendition: Rendition
    package let encoded: EncodedRendition
    /// The digest of the overlay's bytes; nil without an overlay.
    package let overlayDigest: BlobDigest?

    package init(id: ThumbnailID, rendition: Rendition, encoded: EncodedRendition, overlayDigest: BlobDigest? = nil) {
        (self.id, self.rendition, self.encoded, self.overlayDigest) = (id, rendition, encoded, overlayDigest)
    }
}

/// What thumbnails were made from: the source's bytes, when they were seen, and the renderer (invariant I4).
package struct Provenance: Hashable, Sendable {
    /// The source as requested.
    package let source: String
    package let sourceDigest: BlobDigest
    /// The size of the source in bytes; nil if only parts of it were loaded.
    package let sourceSize: Int?
    /// The number issued before the source and overlays were fetched.
    package let sourceSeen: Int64
    package let rendererVersion: String
    /// What decoding revealed about the source.
    package let picture: PictureFacts
    /// Whether the source was truncated, so that the thumbnails show only part of it.
    package let isTruncated: Bool

    package init(
        source: SourceIdentity,
        sourceDigest: BlobDigest,
        sourceSize: Int? = nil,
        sourceSeen: Int64,
        rendererVersion: String,
        picture: PictureFacts,
        isTruncated: Bool
    ) {
        self.source = source.text
        (self.sourceDigest, self.sourceSeen, self.rendererVersion) = (sourceDigest, sourceSeen, rendererVersion)
        self.sourceSize = sourceSize
        (self.picture, self.isTruncated) = (picture, isTruncated)
    }
}

/// The result of a successful attempt.
package enum JobProduct: Sendable {
    case rendered([RenderedThumbnail], Provenance)
    /// Existing thumbnails that need not be made again: made from the revalidated bytes or, with nil, from any bytes.
    case kept([ThumbnailID], Revalidation?)

    /// The number of thumbnails.
    package var count: Int {
        switch self {
        case .rendered(let thumbnails, _): thumbnails.count
        case .kept(let thumbnails, _): thumbnails.count
        }
    }
}

/// The bytes for which existing thumbnails are still valid, and when they were seen.
package struct Revalidation: Hashable, Sendable {
    package let sourceDigest: BlobDigest
    /// The digest of each thumbnail's overlay, in order; nil for a thumbnail without one.
    package let overlayDigests: [BlobDigest?]
    package let sourceSeen: Int64
    package let rendererVersion: String

    package init(sourceDigest: BlobDigest, overlayDigests: [BlobDigest?], sourceSeen: Int64, rendererVersion: String) {
        (self.sourceDigest, self.overlayDigests, self.sourceSeen) = (sourceDigest, overlayDigests, sourceSeen)
        self.rendererVersion = rendererVersion
    }
}
