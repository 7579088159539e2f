internal import CameoHTTPCache
internal import CameoModel

/// What an operator grants and asks of the cache beyond RFC 9111.
package struct CacheRules: Sendable {
    /// How long an answer is fresh that says nothing of caching.
    package struct Lifetime: Sendable {
        /// `example.com` or `example.com:8080`; nil for all that have no lifetime of their own.
        package let host: String?
        package let lifetime: Duration

        package init(host: String?, _ lifetime: Duration) {
            self.host = host
            self.lifetime = lifetime
        }
    }

    /// The last one that fits counts, a host's before the general one. A host stands for the sources that name it,
    /// wherever they redirect to.
    package var lifetimes: [Lifetime] = []
    /// How long past its freshness an answer may stand in for a server in trouble, where neither allows it.
    package var staleIfError: Duration = .zero
    /// How long a failure is remembered that says nothing itself; zero remembers none.
    package var failureMemory: Duration = .seconds(10)

    package init() {}
}

/// The rules, read.
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

    /// `url` is the source's; nil for one that is no HTTP URL before its rewriting.
    func policy(for key: SourceKey, url: HTTPURL?) -> CachePolicy {
        let own = url.flatMap { url in byHost.last { $0.host.covers(url.origin) }?.lifetime }
        return CachePolicy(
            audience: key.scope == nil ? .shared : .oneTenant,
            defaultLifetime: own ?? general,
            staleIfError: staleIfError
        )
    }
}
