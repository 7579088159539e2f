package import CameoModel

/// What one cache may do. Caches with different policies may share stored responses.
///
/// All responses are to GET requests. Every decision follows RFC 9111; the methods name its sections. If a server contradicts
/// itself or sends nonsense, the more careful reading wins: one request too many is better than a wrong response.
package struct CachePolicy: Hashable, Sendable {
    /// Whom the cache serves.
    package enum Audience: Hashable, Sendable {
        /// Everybody: a shared cache.
        case shared
        /// Requests with the same credentials: a private cache.
        case oneTenant
    }

    package var audience: Audience
    /// How long a picture or redirect without caching information is fresh; nil leaves it to the heuristic.
    package var defaultLifetime: Duration?
    /// How long a stale response may be served after a server error, even if neither the response nor the request allows
    /// it. Directives that forbid staleness take precedence.
    package var staleIfError: Duration

    package init(audience: Audience, defaultLifetime: Duration? = nil, staleIfError: Duration = .zero) {
        self.audience = audience
        self.defaultLifetime = defaultLifetime
        self.staleIfError = staleIfError
    }

    /// The policy for responses stored under a key: that of a shared cache, unless the key has credentials.
    package init(for key: SourceKey, defaultLifetime: Duration?, staleIfError: Duration) {
        self.init(
            audience: key.scope == nil ? .shared : .oneTenant,
            defaultLifetime: defaultLifetime,
            staleIfError: staleIfError
        )
    }
}
