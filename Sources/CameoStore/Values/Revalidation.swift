package import CameoModel

/// Of which bytes, seen when, thumbnails are that need not be made again.
package struct Revalidation: Hashable, Sendable {
    package let sourceDigest: BlobDigest
    /// Of each thumbnail's overlay, in their order; nil for one without.
    package let overlayDigests: [BlobDigest?]
    package let sourceSeen: Int64
    package let rendererVersion: String

    package init(sourceDigest: BlobDigest, overlayDigests: [BlobDigest?], sourceSeen: Int64, rendererVersion: String) {
        self.sourceDigest = sourceDigest
        self.overlayDigests = overlayDigests
        self.sourceSeen = sourceSeen
        self.rendererVersion = rendererVersion
    }
}
