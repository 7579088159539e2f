package import CameoModel

/// A finished thumbnail on its way into the store.
package struct RenderedThumbnail: Sendable {
    package let id: ThumbnailID
    package let rendition: Rendition
    package let encoded: EncodedRendition

    package init(id: ThumbnailID, rendition: Rendition, encoded: EncodedRendition) {
        self.id = id
        self.rendition = rendition
        self.encoded = encoded
    }
}

/// Of which bytes, seen when, and by which renderer thumbnails were made (invariant I4).
package struct Provenance: Hashable, Sendable {
    /// The source as requested.
    package let source: String
    package let sourceDigest: BlobDigest
    package let sourceSeen: Int64
    package let rendererVersion: String

    package init(source: SourceIdentity, sourceDigest: BlobDigest, sourceSeen: Int64, rendererVersion: String) {
        self.source = source.text
        self.sourceDigest = sourceDigest
        self.sourceSeen = sourceSeen
        self.rendererVersion = rendererVersion
    }
}
