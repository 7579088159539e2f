internal import CameoHTTPCache
internal import CameoModel
internal import CameoStore
internal import Foundation

extension CachedSource {
    /// Bytes that a program hands over. They have no server: whatever asks for one takes them as its answer.
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
