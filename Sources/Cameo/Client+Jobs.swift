internal import CameoModel
internal import CameoStore
public import Foundation

extension Client {
    /// Accepts requests: all of them, durable on return and in the given order, or none. More than a thousand of one
    /// call would keep other writers waiting.
    ///
    /// - Throws: ``CameoError/invalidRequest(field:reason:)``, ``CameoError/storeFull(reason:)``
    public func enqueue(_ requests: [ThumbnailRequest]) async throws(CameoError) -> [EnqueuedJob] {
        let receipts: [EnqueueReceipt]
        do {
            receipts = try await store.enqueue(requests.map(\.model))
        } catch {
            throw CameoError(enqueueing: error)
        }
        var jobs: [EnqueuedJob] = []
        for receipt in receipts { jobs.append(try EnqueuedJob(receipt)) }
        return jobs
    }

    /// Accepts one request. It is durable on return.
    public func enqueue(_ request: ThumbnailRequest) async throws(CameoError) -> EnqueuedJob {
        try await enqueue([request])[0]
    }

    /// Accepts a picture's bytes, 1 byte to 100 MiB, and what to make of them. The bytes' digest is their cache key:
    /// the same bytes with the same renditions have the same thumbnails, whatever the picture was called.
    public func enqueue(data: Data, renditions: [Rendition]) async throws(CameoError) -> EnqueuedJob {
        // The store puts the name of the bytes in place of the source.
        let request = CameoModel.ThumbnailRequest(source: "data:,", renditions: renditions.map(\.model))
        let receipt: EnqueueReceipt
        do {
            receipt = try await store.enqueue(request, data: data)
        } catch {
            throw CameoError(enqueueing: error)
        }
        return try EnqueuedJob(receipt)
    }

    /// A job as it is now.
    ///
    /// - Throws: ``CameoError/noSuchJob(_:)``
    public func status(of id: Int64) async throws(CameoError) -> JobStatus {
        try JobStatus(await asking { () throws(StoreError) in try await store.job(id) })
    }

    /// What a job makes, or has made.
    ///
    /// - Throws: ``CameoError/noSuchJob(_:)``
    public func thumbnails(for id: Int64) async throws(CameoError) -> [Thumbnail] {
        try await status(of: id).thumbnails
    }

    /// Calls a job off; nothing of it appears from then on. A job that had ended stays as it is.
    ///
    /// - Returns: the state that it was in.
    /// - Throws: ``CameoError/noSuchJob(_:)``
    @discardableResult
    public func cancel(_ id: Int64) async throws(CameoError) -> JobState {
        JobState(try await asking { () throws(StoreError) in try await store.cancel(id) })
    }
}

extension EnqueuedJob {
    fileprivate init(_ receipt: EnqueueReceipt) throws(CameoError) {
        self.init(
            id: receipt.id,
            state: JobState(receipt.state),
            source: receipt.source,
            thumbnails: try Thumbnail.all(receipt.thumbnails)
        )
    }
}
