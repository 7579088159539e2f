internal import CameoStore

// Thumbnails by themselves, whatever became of the jobs that made them.
extension Client {
    /// What is known of thumbnails: size, placeholder, source, labels.
    ///
    /// - Parameter uris: thumbnails' (``CameoURI/thumbnail(_:)``).
    /// - Returns: the facts of those that exist, in the order of their URIs.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for a URI of something else;
    ///   ``CameoError/storeUnavailable(reason:)``
    public func facts(of uris: [CameoURI]) async throws(CameoError) -> [ThumbnailFacts] {
        var ids: [ThumbnailID] = []
        for (index, uri) in uris.enumerated() {
            guard case .thumbnail(let id) = uri else {
                throw .invalidRequest(field: "uris[\(index)]", reason: "\(uri) is not a thumbnail's URI")
            }
            ids.append(id)
        }
        return try await asking { [ids] in try await store.facts(of: ids) }
    }

    /// A page of the thumbnails that match a filter.
    ///
    /// - Parameters:
    ///   - filter: selects the thumbnails; the default selects all.
    ///   - cursor: the ``ThumbnailPage/next`` of the page before; nil for the first page.
    ///   - limit: the maximum number of thumbnails.
    /// - Returns: the page, and the cursor of the next one.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for an empty or too long prefix, a cursor that no page gave or
    ///   whose thumbnail is gone, or a limit below 1; ``CameoError/storeUnavailable(reason:)``
    public func thumbnails(
        where filter: ThumbnailFilter = ThumbnailFilter(),
        after cursor: String? = nil,
        limit: Int = 50
    ) async throws(CameoError) -> ThumbnailPage {
        guard limit > 0 else { throw .invalidRequest(field: "limit", reason: "must be at least 1, not \(limit)") }
        // The empty prefix would match every source.
        guard filter.sourcePrefix != "" else {
            throw .invalidRequest(field: "sourcePrefix", reason: "must not be empty")
        }
        do {
            return try await store.thumbnails(where: filter, after: cursor, limit: limit)
        } catch .refused(let reason) {
            throw .invalidRequest(field: "", reason: reason)
        } catch {
            throw CameoError(error)
        }
    }
}
