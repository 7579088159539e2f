package import Foundation

extension CachePolicy {
    package enum Reuse: Hashable, Sendable {
        /// May answer without a word from the origin: fresh, or no staler than the request's `max-stale` puts up with.
        case fresh
        /// Must be validated or fetched first.
        case stale(Staleness)
    }

    /// Why an answer does not do as it is.
    package enum Staleness: String, Hashable, Sendable {
        /// Its lifetime is over.
        case expired
        /// It says `no-cache`.
        case noCache
        /// The request says `no-cache`.
        case noCacheRequested
        /// Older than the request's `max-age`.
        case olderThanAsked
        /// Not fresh for as long as the request's `min-fresh`.
        case notFreshLongEnough
        /// Came later than now: the clock has been put back, and how long the answer has been here is not known.
        case fromTheFuture
    }

    /// Clocks are put right by little all the time.
    private static let clockTolerance = Duration.seconds(60)

    /// Whether a stored answer of the right variant may answer a request (sections 4, 5.2.1).
    ///
    /// While an `immutable` answer is fresh, the `max-age` of a request does not count: a reload asks with `max-age=0`,
    /// and to spare it the validation is what RFC 8246 is for. A forced reload asks with `no-cache`, which does count.
    /// Whether the answer came by https, without which section 3 of that RFC would not believe it, is the caller's to
    /// know.
    package func reuse(of response: CacheableResponse, for request: HTTPFields, at now: Date) -> Reuse {
        let said = CacheDirectives(of: response.fields)
        let asked = CacheDirectives(of: request)
        if said.contains(.noCache) { return .stale(.noCache) }
        if asked.contains(.noCache) { return .stale(.noCacheRequested) }
        if response.responseTime.duration(since: now) > Self.clockTolerance { return .stale(.fromTheFuture) }

        // A clock that was put back makes nothing younger than it came.
        let freshFor = freshUntil(response).duration(since: max(now, response.responseTime))
        let isFresh = freshFor > .zero
        if let maxAge = asked.least(.maxAge), currentAge(of: response, at: now) > maxAge,
            !(isFresh && said.permits(.immutable))
        {
            return .stale(.olderThanAsked)
        }
        if let minFresh = asked.minFresh, freshFor < minFresh { return .stale(.notFreshLongEnough) }
        if isFresh { return .fresh }
        guard let maxStale = asked.maxStale, !forbidsStale(said) else { return .stale(.expired) }
        return .zero - freshFor <= maxStale ? .fresh : .stale(.expired)
    }

    /// What no allowance of a request or an operator overrules (section 4.2.4). `s-maxage` means `proxy-revalidate`
    /// (section 5.2.2.10).
    func forbidsStale(_ said: CacheDirectives) -> Bool {
        said.contains(.noCache) || said.contains(.mustRevalidate)
            || (audience == .shared && (said.contains(.proxyRevalidate) || said.contains(.sMaxAge)))
    }
}
