internal import CameoModel
internal import Foundation

/// A request that was found valid, with what its row needs, computed before the write lock is taken.
struct NewJob: Sendable {
    let request: ThumbnailRequest
    /// JSON
    let text: String
    let wanted: [WantedThumbnail]
    let key: UniqueKey
    let sourceBlob: BlobDigest?

    init(_ request: ThumbnailRequest, sourceBlob: BlobDigest? = nil) throws {
        try request.validate()
        self.request = request
        self.sourceBlob = sourceBlob
        text = request.json.canonicalText
        guard text.utf8.count <= ThumbnailRequest.maximumBytes else {
            let reason =
                "the request has \(text.utf8.count) bytes as JSON, more than \(ThumbnailRequest.maximumBytes); "
                + "hand large pictures over as data, not as a data: URI"
            throw InvalidRequest(path: "", reason: reason)
        }
        wanted = try WantedThumbnail.all(of: request)
        key = try UniqueKey(request, wanted)
    }

    /// What it brings to a job that it joins.
    func joining(now: Int64) -> Store.Joining {
        Store.Joining(
            priority: request.priority,
            availableAt: max(now, request.runAt?.milliseconds ?? now),
            refresh: request.refresh,
            batches: request.batch.map { [$0] } ?? []
        )
    }
}
