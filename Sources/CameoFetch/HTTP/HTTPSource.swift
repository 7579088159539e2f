internal import CameoHTTPCache
internal import CameoModel
internal import Foundation

/// `http:` and `https:` sources, through the cache if there is one.
///
/// DESIGN: the key of a stored response contains the scope of the request's credentials. So a response to one tenant is never
/// considered for another, without relying on any caching rule. Concurrent jobs for the same source share one fetch
/// (``SharedFetches``), so look-up, request and storing happen once.
final class HTTPSource: SourceProvider {
    let schemes = ["http", "https"]
    let sharesFetches = true
    let transport: HTTPTransport
    let cache: (any SourceCache)?
    let memory: FailureMemory
    let configuration: FetchConfiguration
    private let policies: CachePolicies
    private let refreshes = Refreshes()

    init(_ configuration: FetchConfiguration, _ cache: (any SourceCache)?) throws(FetchConfigurationError) {
        transport = try HTTPTransport(configuration)
        self.cache = cache
        self.configuration = configuration
        memory = FailureMemory(base: configuration.caching.failureMemory)
        policies = try CachePolicies(configuration.caching)
    }

    func open(_ request: SourceRequest) async throws -> FetchedSource {
        try await open(request, .fresh)
    }

    /// Fetches again a response whose stored version serves the request meanwhile. Like a job, it asks no server that has just
    /// failed.
    func refresh(_ request: SourceRequest, _ key: SourceKey) {
        let again = SourceRequest(
            uri: request.uri,
            target: request.target,
            headers: request.headers,
            ticket: request.ticket,
            purpose: .source,
            clock: WorkClock()
        )
        refreshes.begin(key) { _ = try? await self.open(again, .validated) }
    }

    /// `use` is that of a request whose ticket does not ask for more.
    private func open(_ request: SourceRequest, _ use: CacheUse) async throws -> FetchedSource {
        let key = SourceKey(uri: request.uri, scope: RequestScope(of: request.uri, headers: request.headers))
        let question = try question(request, key, use)
        // A response without a number cannot be stored (invariant I4).
        guard let cache, let ticket = request.ticket else {
            var fetch = HTTPFetch(request, by: self, question, stored: [])
            return try await fetch.run()
        }
        let stored = await cache.answers(for: key).filter(isAllowed)
        var fetch = HTTPFetch(request, by: self, question, stored: stored, cache, ticket)
        return try await fetch.run()
    }

    func shutdown() { transport.shutdown() }

    /// - Throws: `source.invalid` for a malformed URL or header.
    private func question(
        _ request: SourceRequest,
        _ key: SourceKey,
        _ use: CacheUse
    ) throws(JobFailure) -> CacheRequest<HTTPURL> {
        let target = try HTTPURL(target: request.target)
        let use: CacheUse =
            if cache == nil || request.ticket == nil {
                .bypass
            } else {
                request.ticket?.asksServer == true ? .validated : use
            }
        return CacheRequest(
            key: key,
            policy: policies.policy(for: key, url: (try? HTTPURL(parsing: request.uri)) ?? target),
            use: use,
            target: target,
            fields: try HTTPFields(request.headers, for: target),
            maximumRedirects: configuration.maximumRedirects,
            sent: transport.sent(at:)
        )
    }

    private func isAllowed(_ response: CachedSource) -> Bool {
        guard response.bytes <= configuration.maximumBytes else { return false }
        return response.isPinned || (!response.peers.isEmpty && transport.refusal(of: response.peers) == nil)
    }
}
