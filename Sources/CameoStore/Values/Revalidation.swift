package import CameoModel

/// The bytes for which existing thumbnails are still valid, and when they were seen.
package struct Revalidation: Hashable, Sendable {
    package let sourceDigest: BlobDigest
    /// The digest of each thumbnail's overlay, in order; nil for a thumbnail without one.
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
