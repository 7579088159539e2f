package import CameoModel

/// A rendered thumbnail to be stored.
package struct RenderedThumbnail: Sendable {
    package let id: ThumbnailID
    package let rendition: Rendition
    package let encoded: EncodedRendition
    /// The digest of the overlay's bytes; nil without an overlay.
    package let overlayDigest: BlobDigest?

    package init(id: ThumbnailID, rendition: Rendition, encoded: EncodedRendition, overlayDigest: BlobDigest? = nil) {
        self.id = id
        self.rendition = rendition
        self.encoded = encoded
        self.overlayDigest = overlayDigest
    }
}

/// What thumbnails were made from: the source's bytes, when they were seen, and the renderer (invariant I4).
package struct Provenance: Hashable, Sendable {
    /// The source as requested.
    package let source: String
    package let sourceDigest: BlobDigest
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
        sourceSeen: Int64,
        rendererVersion: String,
        picture: PictureFacts,
        isTruncated: Bool
    ) {
        self.source = source.text
        self.sourceDigest = sourceDigest
        self.sourceSeen = sourceSeen
        self.rendererVersion = rendererVersion
        self.picture = picture
        self.isTruncated = isTruncated
    }
}
