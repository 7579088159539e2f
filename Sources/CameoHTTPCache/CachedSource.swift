package import CameoModel
package import Foundation

/// A cached original: an answer with status 200, with the redirects that led to it. Its bytes are a blob.
package struct CachedSource: Hashable, Sendable {
    package let key: SourceKey
    /// Which of the key's requests it is for: the text of a ``Variant``.
    package let variant: String
    package let finalURL: String
    /// As it is ``CacheableResponse/kept``, like the redirects.
    package var head: CacheableResponse
    package var redirects: [CacheableResponse]
    package let mediaType: String?
    package let textEncoding: String?
    /// As judged when it was stored.
    package var freshUntil: Date
    package let blob: BlobDigest
    /// How many.
    package let bytes: Int
    /// The number of the fetch or revalidation that it is of (invariant I4).
    package var sourceSeen: Int64
    /// Whom the bytes come from, which a later 304 says nothing of; empty for what a program handed over.
    package let peers: [Peer]
    /// Whether a program handed it over: it has no server, never grows stale, and is not evicted.
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

    /// The redirects and the answer itself: it can do no more than each of these.
    package var chain: [CacheableResponse] { redirects + [head] }
}
