package import CameoModel

/// A validated request with everything its rows need. Digests and canonical JSON take longer to compute than the rows
/// take to write, so they are computed before any lock is taken, on all cores.
package struct CheckedRequest: Sendable {
    package let job: NewJob
    /// The request as JSON text.
    package let text: String
    package let key: UniqueKey
    /// Whether existing thumbnails do not answer it, because the caller knows that they are stale.
    package var needsJob = false

    /// - Throws: `InvalidRequest`
    package init(_ request: ThumbnailRequest) throws(InvalidRequest) {
        try request.validate()
        job = try NewJob(request)
        text = request.json.canonicalText
        guard text.utf8.count <= ThumbnailRequest.maximumBytes else {
            let reason =
                "the request has \(text.utf8.count) bytes as JSON, more than \(ThumbnailRequest.maximumBytes)"
                + ThumbnailRequest.largerPicture
            throw InvalidRequest(path: "", reason: reason)
        }
        guard let key = job.key else {
            throw InvalidRequest(path: "source", reason: "only an upload may have an upload: source")
        }
        self.key = key
    }

    /// The number of requests that one task prepares.
    private static let slice = 125

    package static func all(_ requests: some RandomAccessCollection<ThumbnailRequest> & Sendable) async throws
        -> [CheckedRequest]
    {
        guard requests.count > slice else { return try requests.map { try CheckedRequest($0) } }
        return try await withThrowingTaskGroup(of: (Int, [CheckedRequest]).self) { group in
            for start in stride(from: 0, to: requests.count, by: slice) {
                group.addTask {
                    (start, try requests.dropFirst(start).prefix(slice).map { try CheckedRequest($0) })
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.flatMap { $0.1 }
        }
    }
}
