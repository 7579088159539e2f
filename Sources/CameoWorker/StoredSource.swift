internal import CameoFetch
internal import CameoHTTPCache
internal import CameoModel
internal import CameoStore
internal import Foundation

/// Sources that the store itself holds: `cameo://blob/…`, `cameo://thumb/…` and `cameo://source/…`.
///
/// None can lead back to itself. A job whose source is a thumbnail of its own would need an id that is part of what it is
/// the digest of, and so would two jobs that want each other's; a cached original is the bytes of an answer or of a
/// program, never of a job, and one that is named by a `cameo:` URI again is refused here.
struct StoredSource: Sendable {
    let store: any SourceStore & BlobStore
    /// Whose address guard judges what others have fetched.
    let fetcher: Fetcher
    let maximumBytes: Int

    /// - Throws: `JobFailure` for a URI that names nothing yet, ``StoreError`` otherwise.
    func open(_ uri: CameoURI) async throws -> FetchedSource {
        if case .source(let original) = uri { return try await openOriginal(original, named: uri) }
        return try memory(try await data(of: uri), named: uri)
    }

    /// Fresh or not: who names the cached original asks for no other.
    private func openOriginal(_ original: String, named uri: CameoURI) async throws -> FetchedSource {
        guard URIScheme.of(original) != "cameo" else {
            throw JobFailure(
                .sourceInvalid,
                at: .fetch,
                "\(SourceName.of(uri.text)) names \(SourceName.of(original)), which is in the store already: use that "
                    + "as the source"
            )
        }
        let kept = try await store.cachedSources(SourceKey(uri: original, scope: nil))
        guard let newest = kept.first else {
            throw JobFailure(
                .sourceNotFound,
                at: .fetch,
                "\(SourceName.of(uri.text)) is not in the source cache; a job whose source is "
                    + "\(SourceName.of(original)) itself fetches it"
            )
        }
        guard let cached = kept.first(where: { fetcher.refusal(of: $0.peers) == nil }) else {
            let reason = fetcher.refusal(of: newest.peers) ?? ""
            throw JobFailure(
                .sourceForbidden,
                at: .fetch,
                "\(SourceName.of(uri.text)) may not be used, as another worker fetched it: \(reason)"
            )
        }
        let age = max(0, store.clock.now().timeIntervalSince(cached.head.responseTime))
        return try memory(try await store.data(of: cached.blob), named: uri, mediaType: cached.mediaType)
            .seen(cached.sourceSeen, .cached(age: cached.isPinned ? .zero : .seconds(age)))
    }

    private func memory(
        _ data: Data,
        named uri: CameoURI,
        mediaType: String? = nil
    ) throws(JobFailure) -> FetchedSource {
        let name = SourceName.of(uri.text)
        guard data.count <= maximumBytes else {
            throw JobFailure(.sourceTooLarge, at: .fetch, "\(name) has \(data.count) bytes, more than \(maximumBytes)")
        }
        do throws(Errno) {
            return FetchedSource(
                sealed: try OpenFile.memory(containing: data),
                bytes: data.count,
                digest: SHA256.digest(of: data),
                mediaType: mediaType
            )
        } catch {
            throw JobFailure(.sourceUnreachable, at: .fetch, "\(name): no memory for its \(data.count) bytes: \(error)")
        }
    }

    /// A thumbnail's URI may be used before it is made: then another attempt finds it.
    private func data(of uri: CameoURI) async throws -> Data {
        do {
            return try await store.data(of: uri)
        } catch StoreError.notFound {
            let isPromised = if case .thumbnail = uri { true } else { false }
            let state = isPromised ? "is not made yet" : "is not in the store"
            throw JobFailure(.sourceNotFound, at: .fetch, "\(uri) \(state)", isRetryable: isPromised)
        }
    }
}
