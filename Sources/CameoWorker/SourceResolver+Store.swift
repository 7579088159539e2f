internal import CameoFetch
internal import CameoHTTPCache
internal import CameoModel
internal import CameoStore
internal import CameoSystem
internal import Foundation

// A source that the store itself holds: `cameo://blob/…`, `cameo://thumb/…` or `cameo://source/…`.
//
// No such source can lead back to itself. A thumbnail's id is a digest of its source's URI, so a job whose source is its own
// thumbnail would need a digest that contains itself, and so would two jobs that use each other's thumbnails. A cached
// original holds bytes from a server or a program, never from a job; a `cameo://source/…` that names another `cameo:` URI is
// refused here.
extension SourceResolver {
    /// Copies the source into a sealed memory file.
    ///
    /// - Throws: a `JobFailure` for a URI that names nothing yet; otherwise `StoreError`.
    func open(_ uri: CameoURI, for purpose: FetchPurpose, _ clock: WorkClock) async throws -> FetchedSource {
        try await found(uri) {
            guard case .source(let original) = uri else {
                let size = try await store.size(of: uri)
                return try await copy(uri, size, for: purpose, clock) { try await store.data(of: uri) }
            }
            let cached = try await self.original(original, named: uri)
            let age = max(0, store.clock.now().timeIntervalSince(cached.head.responseTime))
            return try await copy(uri, cached.bytes, mediaType: cached.mediaType, for: purpose, clock) {
                try await store.data(of: cached.blob)
            }
            .seen(cached.sourceSeen, .cached(age: cached.isPinned ? .zero : .seconds(age)))
        }
    }

    private func copy(
        _ uri: CameoURI,
        _ size: Int,
        mediaType: String? = nil,
        for purpose: FetchPurpose,
        _ clock: WorkClock,
        _ read: () async throws -> Data
    ) async throws -> FetchedSource {
        let name = SourceName.of(uri.text)
        let most = configuration.maximumSourceBytes
        guard size <= most else {
            throw JobFailure(.sourceTooLarge, at: .fetch, "\(name) has \(size) bytes, more than \(most)")
        }
        // The bytes are in memory twice while they are copied.
        let reservation = try await configuration.budget.reserve(2 * size, for: purpose, clock)
        return try await limiter.run(clock) {
            let data = try await read()
            return try FetchedSource(copying: data, named: name, mediaType: mediaType, keeping: reservation)
        }
    }

    /// The newest cached original that this worker may use, fresh or not: a `cameo://source/…` URI never asks the server.
    private func original(_ original: String, named uri: CameoURI) async throws -> CachedSource {
        guard URIScheme.of(original) != "cameo" else {
            let reason = "names \(SourceName.of(original)), which is in the store already: use that as the source"
            throw JobFailure(.sourceInvalid, at: .fetch, "\(SourceName.of(uri.text)) \(reason)")
        }
        let kept = try await store.cachedSources(SourceKey(uri: original, scope: nil))
        guard let newest = kept.first else { throw StoreError.notFound(uri: uri.text) }
        guard let cached = kept.first(where: { fetcher.refusal(of: $0.peers) == nil }) else {
            let reason = "may not be used, as another worker fetched it: \(fetcher.refusal(of: newest.peers) ?? "")"
            throw JobFailure(.sourceForbidden, at: .fetch, "\(SourceName.of(uri.text)) \(reason)")
        }
        return cached
    }

    /// Turns `notFound` into a failure that explains it. A thumbnail's URI may be used before the thumbnail exists, so that
    /// failure can be retried.
    private func found<Value: Sendable>(_ uri: CameoURI, _ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch StoreError.notFound {
            if case .source(let original) = uri {
                let advice = "a job whose source is \(SourceName.of(original)) itself fetches it"
                let reason = "\(SourceName.of(uri.text)) is not in the source cache; \(advice)"
                throw JobFailure(.sourceNotFound, at: .fetch, reason)
            }
            let isPromised = if case .thumbnail = uri { true } else { false }
            let state = isPromised ? "is not made yet" : "is not in the store"
            throw JobFailure(.sourceNotFound, at: .fetch, "\(uri) \(state)", isRetryable: isPromised)
        }
    }
}
