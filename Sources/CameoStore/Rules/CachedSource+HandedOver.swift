package import CameoHTTPCache
package import CameoModel
package import Foundation

extension CachedSource {
    /// Creates an answer from uploaded bytes, which have no server: every request for the key gets them.
    package init(
        handedOver digest: BlobDigest,
        bytes: Int,
        mediaType: String?,
        under key: CacheKey,
        at time: Date,
        sourceSeen: Int64
    ) {
        self.init(
            key: SourceKey(uri: key.text, scope: nil),
            finalURL: key.uri,
            head: CacheableResponse(status: 200, requestTime: time, responseTime: time),
            mediaType: mediaType,
            freshUntil: .distantFuture,
            blob: digest,
            bytes: bytes,
            sourceSeen: sourceSeen,
            peers: [],
            isPinned: true
        )
    }
}
