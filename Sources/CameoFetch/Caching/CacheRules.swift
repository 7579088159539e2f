internal import CameoHTTPCache
internal import CameoModel

/// The operator's settings for the cache, beyond RFC 9111.
package struct CacheRules: Sendable {
    /// How long a response without caching information is fresh.
    package struct Lifetime: Sendable {
        /// `example.com` or `example.com:8080`; nil for all hosts without a rule of their own.
        package let host: String?
        package let lifetime: Duration

        package init(host: String?, _ lifetime: Duration) {
            self.host = host
            self.lifetime = lifetime
        }
    }

    /// The last matching rule counts, and a rule for the host takes precedence over a general one. The host is that of the
    /// source, wherever it redirects to.
    package var lifetimes: [Lifetime] = []
    /// How long a stale response may be served after a server error, even if neither response nor request allows it.
    package var staleIfError: Duration = .zero
    /// How long a failure is remembered that does not state a time itself; zero remembers none.
    package var failureMemory: Duration = .seconds(10)

    package init() {}
}

/// The parsed rules.
struct CachePolicies: Sendable {
    private let general: Duration?
    private let byHost: [(host: HostExemption, lifetime: Duration)]
    private let staleIfError: Duration

    /// - Throws: ``FetchConfigurationError/host(_:)``.
    init(_ rules: CacheRules) throws(FetchConfigurationError) {
        var byHost: [(host: HostExemption, lifetime: Duration)] = []
        for rule in rules.lifetimes {
            guard let name = rule.host else { continue }
            guard let host = HostExemption(name) else { throw .host(name) }
            byHost.append((host, rule.lifetime))
        }
        self.byHost = byHost
        general = rules.lifetimes.last { $0.host == nil }?.lifetime
        staleIfError = rules.staleIfError
    }

    /// `url` is that of the source; nil if it is not an HTTP URL before rewriting.
    func policy(for key: SourceKey, url: HTTPURL?) -> CachePolicy {
        let own = url.flatMap { url in byHost.last { $0.host.covers(url.origin) }?.lifetime }
        return CachePolicy(for: key, defaultLifetime: own ?? general, staleIfError: staleIfError)
    }
}
