package import Foundation

extension CachePolicy {
    package enum Reuse: Hashable, Sendable {
        /// May be served without validation: it is fresh, or no staler than the request's `max-stale` accepts.
        case fresh
        /// Must be validated or fetched first.
        case stale(Staleness)
    }

    /// Why a response may not be served without validation.
    package enum Staleness: String, Hashable, Sendable {
        /// Its lifetime is over.
        case expired
        /// The response says `no-cache`.
        case noCache
        /// The request says `no-cache`.
        case noCacheRequested
        /// Older than the request's `max-age`.
        case olderThanAsked
        /// Not fresh for as long as the request's `min-fresh`.
        case notFreshLongEnough
        /// It arrived later than now: the clock has been set back, and its age is unknown.
        case fromTheFuture
    }

    /// Clocks are corrected by small amounts all the time.
    private static let clockTolerance = Duration.seconds(60)

    /// Whether a stored response of the right variant may answer a request without validation (sections 4, 5.2.1).
    ///
    /// While an `immutable` response is fresh, the request's `max-age` is ignored: a reload sends `max-age=0`, and RFC 8246
    /// exists to spare it the validation. A forced reload sends `no-cache`, which counts. Section 3 of that RFC trusts
    /// `immutable` over https only; that is for the caller to check.
    package func reuse(of response: CacheableResponse, for request: HTTPFields, at now: Date) -> Reuse {
        let said = CacheDirectives(of: response.fields)
        let asked = CacheDirectives(of: request)
        if said.contains(.noCache) { return .stale(.noCache) }
        if asked.contains(.noCache) { return .stale(.noCacheRequested) }
        if response.responseTime.duration(since: now) > Self.clockTolerance { return .stale(.fromTheFuture) }

        // A clock that was set back makes nothing younger than it was on arrival.
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

    /// Whether the response must never be served stale, whatever a request or an operator allows (section 4.2.4).
    /// `s-maxage` implies `proxy-revalidate` (section 5.2.2.10).
    func forbidsStale(_ said: CacheDirectives) -> Bool {
        said.contains(.noCache) || said.contains(.mustRevalidate)
            || (audience == .shared && (said.contains(.proxyRevalidate) || said.contains(.sMaxAge)))
    }
}
