internal import CameoStore
public import Foundation

extension Client {
    /// Accepts either all requests, in the given order and durable on return, or none. Pass at most about a thousand at a
    /// time, since other writers wait meanwhile.
    ///
    /// - Throws: ``CameoError/invalidRequest(field:reason:)``, ``CameoError/storeFull(reason:)``
    public func enqueue(_ requests: [ThumbnailRequest]) async throws(CameoError) -> [EnqueueReceipt] {
        do {
            return try await store.enqueue(requests)
        } catch {
            throw CameoError(erased: error)
        }
    }

    /// Accepts one request, which is durable on return.
    public func enqueue(_ request: ThumbnailRequest) async throws(CameoError) -> EnqueueReceipt {
        try await enqueue([request])[0]
    }

    /// Accepts a picture's bytes and the renditions to make; like ``enqueue(_:data:cacheKey:)`` with a request that has no
    /// other options.
    public func enqueue(
        data: Data,
        renditions: [Rendition],
        cacheKey: String? = nil
    ) async throws(CameoError) -> EnqueueReceipt {
        try await enqueue(ThumbnailRequest(renditions: renditions), data: data, cacheKey: cacheKey)
    }

    /// Accepts a picture's bytes, 1 byte to 100 MiB, and a request whose source is set to the name of these bytes.
    ///
    /// - Parameters:
    ///   - request: the renditions and options.
    ///   - data: the picture.
    ///   - cacheKey: the program's own name for the picture, such as `user:42/avatar`: 1 to 2048 bytes without control
    ///     characters, but not a URI that a source may have. The thumbnails' URIs depend on it alone, and stay the same when
    ///     new bytes are enqueued under it; the newest bytes win. Nil: the name is the digest of the bytes, so the same
    ///     bytes with the same renditions have the same thumbnails.
    /// - Returns: the job and the names of its thumbnails.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)``, ``CameoError/storeFull(reason:)``
    public func enqueue(
        _ request: ThumbnailRequest,
        data: Data,
        cacheKey: String? = nil
    ) async throws(CameoError) -> EnqueueReceipt {
        do {
            let key = try cacheKey.map { text throws(InvalidRequest) in try CacheKey(text) }
            return try await store.enqueue(request, data: data, cacheKey: key)
        } catch {
            throw CameoError(erased: error)
        }
    }

    /// The current status of a job.
    ///
    /// - Throws: ``CameoError/noSuchJob(_:)``
    public func status(of id: Int64) async throws(CameoError) -> Job {
        try await asking { () throws(StoreError) in try await store.job(id) }
    }

    /// The thumbnails of an accepted request, finished or not.
    public func thumbnails(for job: EnqueueReceipt) async throws(CameoError) -> [RequestedThumbnail] {
        guard let id = job.id else { return job.thumbnails }
        return try await status(of: id).thumbnails
    }

    /// The thumbnails of a job, finished or not.
    ///
    /// - Throws: ``CameoError/noSuchJob(_:)``
    public func thumbnails(for id: Int64) async throws(CameoError) -> [RequestedThumbnail] {
        try await status(of: id).thumbnails
    }

    /// Cancels a job, none of whose thumbnails appears afterwards. A job that has ended is not changed.
    ///
    /// - Returns: the state before the call.
    /// - Throws: ``CameoError/noSuchJob(_:)``
    @discardableResult
    public func cancel(_ id: Int64) async throws(CameoError) -> JobState {
        try await asking { () throws(StoreError) in try await store.cancel(id) }
    }

    /// Removes a source from the cache, for all credentials: what workers and sessions have loaded from the URL, or the bytes
    /// that were enqueued under the key. A job that still needs the source fetches it again, or fails. The client's memory is
    /// emptied.
    ///
    /// - Parameters:
    ///   - source: the requested URL, or a cache key.
    ///   - extent: whether its thumbnails are removed too.
    /// - Returns: what was removed. An unknown source is not an error.
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    @discardableResult
    public func forget(
        _ source: String,
        _ extent: ForgottenExtent = .originals
    ) async throws(CameoError) -> ForgottenSource {
        defer { memory.empty() }
        return try await asking { () throws(StoreError) in try await store.forgetSource(source, extent) }
    }
}
