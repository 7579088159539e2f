/// What one cache may do. Caches with different policies may share answers.
///
/// Answers are to GET requests, and every judgement follows RFC 9111, whose sections the methods name. Where a server
/// contradicts itself or sends nonsense, the more careful reading wins: an answer is rather asked for once more than
/// served in error.
package struct CachePolicy: Hashable, Sendable {
    /// For whom answers are kept.
    package enum Audience: Hashable, Sendable {
        /// For everybody who asks: a shared cache.
        case shared
        /// For those who send the same credentials: a private cache.
        case oneTenant
    }

    package var audience: Audience
    /// How long a picture or a redirect is fresh that says nothing of caching at all; nil leaves it to the heuristics.
    package var defaultLifetime: Duration?
    /// How long past its freshness an answer may stand in for a server in trouble, even if neither the answer nor the
    /// request allows it. What forbids stale answers overrules it.
    package var staleIfError: Duration

    package init(audience: Audience, defaultLifetime: Duration? = nil, staleIfError: Duration = .zero) {
        self.audience = audience
        self.defaultLifetime = defaultLifetime
        self.staleIfError = staleIfError
    }
}
