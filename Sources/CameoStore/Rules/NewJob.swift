package import CameoModel
internal import Foundation

/// A validated request with the values its rows need, computed before the write lock is taken.
package struct NewJob: Sendable {
    package let request: ThumbnailRequest
    package let wanted: [WantedThumbnail]
    /// The unique key; nil for an upload, whose thumbnail ids are unknown until its bytes are read.
    package let key: UniqueKey?
    /// The number of the `upload` row that contains the picture.
    package let upload: Int64?
    /// The wanted thumbnails as JSON.
    package let thumbnails: String

    /// - Throws: `InvalidRequest`
    package init(_ request: ThumbnailRequest) throws(InvalidRequest) {
        self.request = request
        upload = Self.upload(request.source)
        wanted = upload == nil ? try WantedThumbnail.all(of: request) : []
        key = upload == nil ? UniqueKey(request, wanted) : nil
        thumbnails = WantedThumbnail.json(of: wanted)
    }

    /// What the request contributes to a job that it joins.
    package func joining(now: Int64) -> Joining {
        Joining(
            priority: request.priority,
            due: max(now, request.runAt?.milliseconds ?? now),
            refresh: request.refresh,
            batches: request.batch.map { [$0] } ?? [],
            isHooked: request.hook != nil
        )
    }

    /// The stored blobs and thumbnails that the job reads, by digest and id.
    package var ingredients: Set<String> {
        Set(
            ([request.source] + request.overlaySources).compactMap { text in
                switch CameoURI(text) {
                case .thumbnail(let id): id.text
                case .blob(let digest): digest.hex
                case .source, nil: nil
                }
            }
        )
    }

    private static func upload(_ source: String) -> Int64? {
        guard URIScheme.of(source) == "upload" else { return nil }
        // No row has the number 0, so a malformed one is refused when the row is looked up.
        return Int64(source.dropFirst("upload:".count)) ?? 0
    }
}
