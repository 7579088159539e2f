internal import CameoHTTPCache
internal import CameoModel
internal import CameoStore
internal import Foundation

extension CachedSource {
    /// Creates an answer from uploaded bytes, which have no server: every request for the key gets them.
    init(handedOver blob: PreparedBlob, under key: CacheKey, at time: Date, sourceSeen: Int64) {
        self.init(
            key: SourceKey(uri: key.text, scope: nil),
            finalURL: key.uri,
            head: CacheableResponse(status: 200, requestTime: time, responseTime: time),
            mediaType: blob.mediaType,
            freshUntil: .distantFuture,
            blob: blob.digest,
            bytes: blob.size,
            sourceSeen: sourceSeen,
            peers: [],
            isPinned: true
        )
    }
}
