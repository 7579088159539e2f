package import CameoModel
package import Foundation

/// A stored response: status 200, and the redirects that led to it. Its body is a blob.
package struct CachedSource: Hashable, Sendable {
    package let key: SourceKey
    /// Which requests for the key it answers: the text of a ``Variant``.
    package let variant: String
    package let finalURL: String
    /// The stored part of the head (``CacheableResponse/kept``). The redirects are stored likewise.
    package var head: CacheableResponse
    package var redirects: [CacheableResponse]
    package let mediaType: String?
    package let textEncoding: String?
    /// When its freshness ends, as judged when it was stored.
    package var freshUntil: Date
    package let blob: BlobDigest
    /// The size of the body.
    package let bytes: Int
    /// The number of the fetch or revalidation that produced it (invariant I4).
    package var sourceSeen: Int64
    /// The servers that sent the bytes; a later 304 leaves them unchanged. Empty for bytes that a program handed over.
    package let peers: [Peer]
    /// Whether a program handed the bytes over: there is no server to ask, and they are never stale and never evicted.
    package let isPinned: Bool

    package init(
        key: SourceKey,
        variant: String = "",
        finalURL: String,
        head: CacheableResponse,
        redirects: [CacheableResponse] = [],
        mediaType: String? = nil,
        textEncoding: String? = nil,
        freshUntil: Date,
        blob: BlobDigest,
        bytes: Int,
        sourceSeen: Int64,
        peers: [Peer],
        isPinned: Bool = false
    ) {
        self.key = key
        self.variant = variant
        self.finalURL = finalURL
        self.head = head
        self.redirects = redirects
        self.mediaType = mediaType
        self.textEncoding = textEncoding
        self.freshUntil = freshUntil
        self.blob = blob
        self.bytes = bytes
        self.sourceSeen = sourceSeen
        self.peers = peers
        self.isPinned = isPinned
    }

    /// The redirects and the response itself. The whole allows no more than each of these.
    package var chain: [CacheableResponse] { redirects + [head] }
}
