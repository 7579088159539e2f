package import CameoModel

/// A finished thumbnail on its way into the store.
package struct RenderedThumbnail: Sendable {
    package let id: ThumbnailID
    package let rendition: Rendition
    package let encoded: EncodedRendition
    /// Of the bytes of the rendition's overlay; nil for a rendition without one.
    package let overlayDigest: BlobDigest?

    package init(id: ThumbnailID, rendition: Rendition, encoded: EncodedRendition, overlayDigest: BlobDigest? = nil) {
        self.id = id
        self.rendition = rendition
        self.encoded = encoded
        self.overlayDigest = overlayDigest
    }
}

/// Of which bytes, seen when, and by which renderer thumbnails were made (invariant I4).
package struct Provenance: Hashable, Sendable {
    /// The source as requested.
    package let source: String
    package let sourceDigest: BlobDigest
    /// Issued before the source and the overlays were fetched.
    package let sourceSeen: Int64
    package let rendererVersion: String
    /// What the source turned out to be.
    package let picture: PictureFacts
    /// Whether the source was cut off, and the thumbnails show what there was of it.
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
