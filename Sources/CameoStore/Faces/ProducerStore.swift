package import CameoModel
package import Foundation

/// For whoever wants thumbnails made.
package protocol ProducerStore: AnyStore {
    /// Accepts requests: all of them, durable on return and in the given order, or none. One for the same thumbnails as a
    /// job that waits joins it; one whose thumbnails are made and fresh needs no job.
    ///
    func enqueue(_ requests: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt]

    /// Accepts a picture's bytes and the request for it, whose source is replaced by their name: the blob URI of these
    /// very bytes, or the name of whatever is newest under a key, which they are from now on (invariant I4).
    func enqueue(_ request: ThumbnailRequest, data: Data, cacheKey: CacheKey?) async throws -> EnqueueReceipt
}
