package import CameoModel
internal import Foundation

/// A request that was found valid, with what its rows need, computed before the write lock is taken.
package struct NewJob: Sendable {
    package let request: ThumbnailRequest
    package let wanted: [WantedThumbnail]
    /// Nil for an upload, whose thumbnails nobody can name before its bytes are read.
    package let key: UniqueKey?
    /// The row whose bytes are the picture, by its number.
    package let upload: Int64?
    /// JSON
    package let thumbnails: String

    /// - Throws: `InvalidRequest`
    package init(_ request: ThumbnailRequest) throws(InvalidRequest) {
        self.request = request
        upload = Self.upload(request.source)
        wanted = upload == nil ? try WantedThumbnail.all(of: request) : []
        key = upload == nil ? UniqueKey(request, wanted) : nil
        thumbnails = WantedThumbnail.json(of: wanted)
    }

    /// What it brings to a job that it joins.
    package func joining(now: Int64) -> Joining {
        Joining(
            priority: request.priority,
            due: max(now, request.runAt?.milliseconds ?? now),
            refresh: request.refresh,
            batches: request.batch.map { [$0] } ?? []
        )
    }

    /// Stored bytes and thumbnails that it is to be made of, by digest and id.
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
        // A number that no row has: it is refused when it is looked for.
        return Int64(source.dropFirst("upload:".count)) ?? 0
    }
}
