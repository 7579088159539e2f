internal import CameoHTTPCache
internal import CameoStore
internal import Foundation

/// Loads `http:` and `https:` URLs through the store, for all sessions with the same settings.
final class ReadThroughLoader: Sendable {
    let cache: SessionCache
    let settings: TransferSettings
    let transfers: HTTPTransfers
    private let refreshes = Refreshes()
    let now: @Sendable () -> Date

    init(
        store: any Store,
        memory: BlobMemory,
        rules: ReadThrough,
        settings: TransferSettings,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        cache = SessionCache(store: store, memory: memory, rules: rules)
        self.settings = settings
        self.now = now
        transfers = HTTPTransfers(settings.transferConfiguration, now: now)
    }

    /// - Throws: the original `URLError`; `CancellationError`.
    func answer(to request: URLRequest) async throws -> Answer {
        let request = try SessionRequest(request, settings, cache.rules)
        var load: ReadThroughLoad
        do throws(StoreError) {
            load = ReadThroughLoad(request, by: self, stored: try await cache.answers(for: request))
        } catch {
            load = ReadThroughLoad(request, by: self, stored: [], trouble: error)
        }
        return try await load.run()
    }

    /// Loads a response again whose stored version, possibly a part of it, is served meanwhile.
    func refresh(_ request: URLRequest, _ key: SourceKey) {
        var request = request
        request.httpMethod = "GET"
        request.cachePolicy = .reloadRevalidatingCacheData
        for name in ["Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"] {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        refreshes.begin(key) { [request] in _ = try? await self.answer(to: request) }
    }
}
