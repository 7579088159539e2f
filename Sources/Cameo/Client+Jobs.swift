internal import CameoStore
public import Foundation

extension Client {
    /// Accepts requests: all of them, durable on return and in the given order, or none. More than a thousand of one
    /// call would keep other writers waiting.
    ///
    /// - Throws: ``CameoError/invalidRequest(field:reason:)``, ``CameoError/storeFull(reason:)``
    public func enqueue(_ requests: [ThumbnailRequest]) async throws(CameoError) -> [EnqueueReceipt] {
        do {
            return try await store.enqueue(requests)
        } catch {
            throw CameoError(erased: error)
        }
    }

    /// Accepts one request. It is durable on return.
    public func enqueue(_ request: ThumbnailRequest) async throws(CameoError) -> EnqueueReceipt {
        try await enqueue([request])[0]
    }

    /// Accepts a picture's bytes and what to make of them; as ``enqueue(_:data:cacheKey:)`` with a request that asks for
    /// nothing else.
    public func enqueue(
        data: Data,
        renditions: [Rendition],
        cacheKey: String? = nil
    ) async throws(CameoError) -> EnqueueReceipt {
        try await enqueue(ThumbnailRequest(renditions: renditions), data: data, cacheKey: cacheKey)
    }

    /// Accepts a picture's bytes, 1 byte to 100 MiB, and a request for it, in whose source their name is put.
    ///
    /// - Parameters:
    ///   - request: what to make of them.
    ///   - data: the picture.
    ///   - cacheKey: a name of the program's own for the picture, 1 to 2048 bytes without control characters, and no URI
    ///     that a source may have: `user:42/avatar`. The thumbnails' URIs follow from it and stay when other bytes are
    ///     handed over under it; the newest bytes win. Nil: the bytes' digest is their name, so that the same bytes with
    ///     the same renditions have the same thumbnails.
    /// - Returns: the job, with the names of its thumbnails.
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

    /// A job as it is now.
    ///
    /// - Throws: ``CameoError/noSuchJob(_:)``
    public func status(of id: Int64) async throws(CameoError) -> Job {
        try await asking { () throws(StoreError) in try await store.job(id) }
    }

    /// What an accepted request makes, or has made.
    public func thumbnails(for job: EnqueueReceipt) async throws(CameoError) -> [RequestedThumbnail] {
        guard let id = job.id else { return job.thumbnails }
        return try await status(of: id).thumbnails
    }

    /// What a job makes, or has made.
    ///
    /// - Throws: ``CameoError/noSuchJob(_:)``
    public func thumbnails(for id: Int64) async throws(CameoError) -> [RequestedThumbnail] {
        try await status(of: id).thumbnails
    }

    /// Calls a job off; nothing of it appears from then on. A job that had ended stays as it is.
    ///
    /// - Returns: the state that it was in.
    /// - Throws: ``CameoError/noSuchJob(_:)``
    @discardableResult
    public func cancel(_ id: Int64) async throws(CameoError) -> JobState {
        try await asking { () throws(StoreError) in try await store.cancel(id) }
    }

    /// Removes what is cached of a source, of all credentials: what workers and sessions have loaded from there, or what
    /// was handed over under that key. A job that still needs it fetches it again, or fails.
    ///
    /// - Parameters:
    ///   - source: a URL as it was requested, or a cache key.
    ///   - extent: whether what was made of it goes too.
    /// - Returns: what went; nothing is no error.
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    @discardableResult
    public func forget(
        _ source: String,
        _ extent: ForgottenExtent = .originals
    ) async throws(CameoError) -> ForgottenSource {
        try await asking { () throws(StoreError) in try await store.forgetSource(source, extent) }
    }
}
