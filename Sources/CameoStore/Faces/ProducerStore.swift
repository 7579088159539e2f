package import CameoModel
package import Foundation

/// Operations for programs that request thumbnails.
package protocol ProducerStore: AnyStore {
    /// Accepts all requests, in the given order and durable on return, or none. A request for the same thumbnails as a
    /// waiting job joins that job. If fresh thumbnails already exist, no job is created.
    func enqueue(_ requests: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt]

    /// Accepts a request, or a picture's bytes and a request for them. The request's source then becomes the blob URI of
    /// the bytes or, with a cache key, a URI that names the newest bytes uploaded under that key, which these now are
    /// (invariant I4). Repeated within a day under the same idempotency key, it returns the first receipt and changes
    /// nothing.
    ///
    /// - Throws: `InvalidRequest`, also if the idempotency key was used for another request; ``StoreError``.
    func enqueue(_ request: ThumbnailRequest, data: Data?, cacheKey: CacheKey?, once key: IdempotencyKey?) async throws
        -> EnqueueReceipt

    /// Seals a batch, after all that was requested before: once none of its jobs is left, it has ended.
    func add(_ seal: BatchSeal) async throws(StoreError)

    /// Stores bytes durably and returns their digest. Storing the same bytes again returns the same digest and keeps
    /// the first media type.
    ///
    /// - Throws: ``StoreError/full(path:)``, ``StoreError/readOnly(path:)``
    func store(_ data: Data, mediaType: String?) async throws(StoreError) -> BlobDigest
}

extension ProducerStore {
    /// - Throws: `InvalidRequest` for the first invalid request, before any is accepted; otherwise ``StoreError``.
    package func enqueue(_ requests: [ThumbnailRequest]) async throws -> [EnqueueReceipt] {
        try await enqueue(CheckedRequest.all(requests))
    }
}
