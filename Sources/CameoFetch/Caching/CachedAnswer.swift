package import CameoHTTPCache
package import CameoModel
package import Foundation

/// An answer with status 200 as a cache keeps it, with the redirects that led to it; its bytes are apart.
package struct CachedAnswer: Hashable, Sendable {
    package let key: SourceKey
    /// Which of the key's requests it is for.
    package let variant: Variant
    package let finalURL: String
    package let head: CacheableResponse
    package let redirects: [CacheableResponse]
    package let mediaType: String?
    package let textEncoding: String?
    /// As judged when it was kept.
    package let freshUntil: Date
    package let digest: BlobDigest
    /// How many.
    package let bytes: Int
    /// Of the fetch or the revalidation that it is of, in the order of all fetches (invariant I4).
    package let number: Int64
    /// Whom its bytes come from; a later 304 says nothing of that.
    package let peers: [Peer]
    /// Whether a program handed it over: there is no server to ask, and it is never stale.
    package let isPinned: Bool

    package init(
        key: SourceKey,
        variant: Variant,
        finalURL: String,
        head: CacheableResponse,
        redirects: [CacheableResponse],
        mediaType: String?,
        textEncoding: String?,
        freshUntil: Date,
        digest: BlobDigest,
        bytes: Int,
        number: Int64,
        peers: [Peer],
        isPinned: Bool
    ) {
        self.key = key
        self.variant = variant
        self.finalURL = finalURL
        self.head = head
        self.redirects = redirects
        self.mediaType = mediaType
        self.textEncoding = textEncoding
        self.freshUntil = freshUntil
        self.digest = digest
        self.bytes = bytes
        self.number = number
        self.peers = peers
        self.isPinned = isPinned
    }

    /// The redirects and the answer itself: it can do no more than each of these.
    var chain: [CacheableResponse] { redirects + [head] }
}
