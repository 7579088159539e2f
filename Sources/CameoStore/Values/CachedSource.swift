package import CameoModel
package import Foundation

/// A cached original: one answer of a source's server, whose bytes are a blob.
package struct CachedSource: Hashable, Sendable {
    /// A line of the answer's header.
    package struct Field: Hashable, Codable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A redirect that led to the answer.
    package struct Hop: Hashable, Codable, Sendable {
        package let status: Int
        package let fields: [Field]
        package let requestTime: Date
        package let responseTime: Date

        package init(status: Int, fields: [Field], requestTime: Date, responseTime: Date) {
            self.status = status
            self.fields = fields
            self.requestTime = requestTime
            self.responseTime = responseTime
        }
    }

    package let key: SourceKey
    /// What of the request the answer depends on; empty where it depends on nothing.
    package let variant: String
    package let finalURL: String
    package let status: Int
    package let fields: [Field]
    package let hops: [Hop]
    package let mediaType: String?
    package let textEncoding: String?
    package let requestTime: Date
    package let responseTime: Date
    /// As judged when it was stored.
    package let freshUntil: Date
    package let blob: BlobDigest
    /// How many.
    package let bytes: Int
    /// The number of the fetch or revalidation that it is of (invariant I4).
    package let sourceSeen: Int64
    /// Whom the bytes come from; empty for what a program handed over.
    package let peers: [Peer]
    /// Whether a program handed it over: it has no server, never grows stale, and is not evicted.
    package let isPinned: Bool

    package init(
        key: SourceKey,
        variant: String,
        finalURL: String,
        status: Int,
        fields: [Field],
        hops: [Hop],
        mediaType: String?,
        textEncoding: String?,
        requestTime: Date,
        responseTime: Date,
        freshUntil: Date,
        blob: BlobDigest,
        bytes: Int,
        sourceSeen: Int64,
        peers: [Peer],
        isPinned: Bool
    ) {
        self.key = key
        self.variant = variant
        self.finalURL = finalURL
        self.status = status
        self.fields = fields
        self.hops = hops
        self.mediaType = mediaType
        self.textEncoding = textEncoding
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.freshUntil = freshUntil
        self.blob = blob
        self.bytes = bytes
        self.sourceSeen = sourceSeen
        self.peers = peers
        self.isPinned = isPinned
    }
}
