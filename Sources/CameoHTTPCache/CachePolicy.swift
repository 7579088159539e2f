package import CameoModel
package import Foundation

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
        (self.audience, self.defaultLifetime, self.staleIfError) = (audience, defaultLifetime, staleIfError)
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

/// Judges a chain: the redirects in their order, then the response that they led to. The chain is stored as one entry under
/// the requested URI, so it allows no more than each of its members.
extension CachePolicy {
    /// A chain is refused if any member forbids storing. A redirect that merely gives no reason to store it (302, 303, 307)
    /// is accepted: the chain is then never fresh, but can be served while the origin is unreachable.
    package func storing(_ chain: [CacheableResponse], of request: HTTPFields) -> Storing {
        guard let answer = chain.last else { return .nothingAllowsIt }
        let isForbidden = chain.dropLast().contains { storing($0, of: request) == .forbidden }
        return isForbidden ? .forbidden : storing(answer, of: request)
    }

    /// The first instant at which a member is no longer fresh; the distant past for an empty chain.
    package func freshUntil(of chain: [CacheableResponse]) -> Date { chain.map(freshUntil).min() ?? .distantPast }

    /// A chain is fresh while every member is; otherwise the first stale member gives the reason.
    package func reuse(of chain: [CacheableResponse], for request: HTTPFields, at now: Date) -> Reuse {
        guard !chain.isEmpty else { return .expired }
        return chain.lazy.map { reuse(of: $0, for: request, at: now) }.first { $0 != .fresh } ?? .fresh
    }

    /// The fields that describe the stored bytes, which a 304 must not change (section 3.2).
    private static let describingBytes: Set = ["content-encoding", "content-length", "content-range", "content-type"]

    /// The stored response, updated by a 304 (sections 3.2, 4.3.4). The status and the fields that describe the stored bytes
    /// stay; all other fields that the 304 has, and its times, replace the stored ones. Ask ``storing(_:of:)`` again
    /// whether the result may be stored.
    ///
    /// `Age` and `Date` belong to one message, so the stored ones are removed even if the 304 has none: otherwise the
    /// response would stay as old as before.
    package func freshened(_ stored: CacheableResponse, by notModified: CacheableResponse) -> CacheableResponse {
        let news = notModified.fields.storable.lines.filter {
            !Self.describingBytes.contains($0.name.asciiLowercased)
        }
        let replaced = Set(news.map(\.name.asciiLowercased)).union(["age", "date"])
        return CacheableResponse(
            status: stored.status,
            fields: HTTPFields(stored.fields.lines.filter { !replaced.contains($0.name.asciiLowercased) } + news),
            requestTime: notModified.requestTime,
            responseTime: notModified.responseTime
        )
    }

    /// By the heuristic, a response is fresh for a tenth of the time since `Last-Modified` (section 4.2.2).
    private static let heuristicFraction = 10
    /// By its tenth alone, a three-year-old picture would be served for three months without a question. One day bounds
    /// how long the guess can be wrong; beyond it RFC 2616 (section 13.2.4) made caches add a warning.
    private static let longestHeuristic = Duration.seconds(86_400)

    /// How long the response is fresh after its origin generated it (section 4.2.1), from zero to 2³¹ seconds.
    package func freshnessLifetime(of response: CacheableResponse) -> Duration {
        if let lifetime = explicitLifetime(of: response) { return lifetime }
        let said = CacheDirectives(of: response.fields)
        return injectedLifetime(of: response, said) ?? heuristicLifetime(of: response, said)
    }

    /// The lifetime that the response states itself; nil if it states none.
    package func explicitLifetime(of response: CacheableResponse) -> Duration? {
        let said = CacheDirectives(of: response.fields)
        if audience == .shared, let lifetime = said.least(.sMaxAge) { return lifetime }
        return said.least(.maxAge) ?? response.expiresAfter
    }

    /// The time since the origin generated or validated the response (section 4.2.3). A clock that was set back adds
    /// nothing.
    package func currentAge(of response: CacheableResponse, at now: Date) -> Duration {
        response.initialAge + max(now.duration(since: response.responseTime), .zero)
    }

    /// The first instant at which the response is no longer fresh. For `no-cache` it is at the latest its arrival.
    package func freshUntil(_ response: CacheableResponse) -> Date {
        let left = freshnessLifetime(of: response) - response.initialAge
        let until = response.responseTime.addingTimeInterval(left.seconds)
        return CacheDirectives(of: response.fields).contains(.noCache) ? min(until, response.responseTime) : until
    }

    /// The operator's default lifetime, for a response without caching information: validators say nothing about caching,
    /// and `public` or `must-revalidate` say nothing about time.
    func injectedLifetime(of response: CacheableResponse, _ said: CacheDirectives) -> Duration? {
        guard let defaultLifetime, response.isSuccessOrRedirect, !saysSomething(response, said) else { return nil }
        return min(max(defaultLifetime, .zero), .seconds(Int.mostDeltaSeconds))
    }

    private func heuristicLifetime(of response: CacheableResponse, _ said: CacheDirectives) -> Duration {
        guard response.isHeuristicallyCacheable || said.permits(.public), !saysSomething(response, said),
            let lastModified = response.lastModified
        else { return .zero }
        let age = response.date.duration(since: lastModified)
        return min(max(age / Self.heuristicFraction, .zero), Self.longestHeuristic)
    }

    private func saysSomething(_ response: CacheableResponse, _ said: CacheDirectives) -> Bool {
        let words: [CacheDirectives.Name] = [.maxAge, .sMaxAge, .noCache, .noStore]
        return words.contains(where: said.contains) || response.fields["Expires"] != nil
    }

    /// Whether a response may be served without validation, or why not.
    package enum Reuse: Hashable, Sendable {
        /// It may: it is fresh, or no staler than the request's `max-stale` accepts.
        case fresh
        /// Its lifetime is over.
        case expired
        /// The response says `no-cache`.
        case noCache
        /// The request wants a fresher one (`no-cache`, `max-age`, `min-fresh`), or the age is unknown.
        case notFreshEnough
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
        if said.contains(.noCache) { return .noCache }
        if asked.contains(.noCache) { return .notFreshEnough }
        // It arrived later than now: the clock has been set back.
        if response.responseTime.duration(since: now) > Self.clockTolerance { return .notFreshEnough }

        // A clock that was set back makes nothing younger than it was on arrival.
        let freshFor = freshUntil(response).duration(since: max(now, response.responseTime))
        let isFresh = freshFor > .zero
        if let maxAge = asked.least(.maxAge), currentAge(of: response, at: now) > maxAge,
            !(isFresh && said.permits(.immutable))
        {
            return .notFreshEnough
        }
        if let minFresh = asked.minFresh, freshFor < minFresh { return .notFreshEnough }
        if isFresh { return .fresh }
        guard let maxStale = asked.maxStale, !forbidsStale(said) else { return .expired }
        return .zero - freshFor <= maxStale ? .fresh : .expired
    }

    /// Whether the response must never be served stale, whatever a request or an operator allows (section 4.2.4).
    /// `s-maxage` implies `proxy-revalidate` (section 5.2.2.10).
    func forbidsStale(_ said: CacheDirectives) -> Bool {
        said.contains(.noCache) || said.contains(.mustRevalidate)
            || (audience == .shared && (said.contains(.proxyRevalidate) || said.contains(.sMaxAge)))
    }

    /// Why the origin gave no usable response.
    package enum Trouble: Hashable, Sendable {
        /// There was no name, no connection or no response at all.
        case disconnected
        /// The origin responded with 500, 502, 503 or 504 (RFC 5861, section 4).
        case serverError

        /// - Parameter status: the origin's. The result is nil for a status that no stale response may replace.
        package init?(status: Int) {
            guard [500, 502, 503, 504].contains(status) else { return nil }
            self = .serverError
        }
    }

    /// Whether a chain of which a member is no longer fresh may be served while it is revalidated (RFC 5861, section 3).
    ///
    /// Only that member itself can allow it, and only for the age that it has reached. A request that says how fresh or stale
    /// a response may be accepts no more than it says (section 5.2.1), and one with `only-if-cached` wants no request sent.
    package func mayServeWhileRevalidating(
        _ chain: [CacheableResponse],
        for request: HTTPFields,
        at now: Date
    ) -> Bool {
        let asked = CacheDirectives(of: request)
        let limits: [CacheDirectives.Name] = [.maxAge, .minFresh, .maxStale, .onlyIfCached]
        return !chain.isEmpty
            && chain.allSatisfy { response in
                let (said, reuse) = (CacheDirectives(of: response.fields), reuse(of: response, for: request, at: now))
                guard reuse == .expired, let window = said.least(.staleWhileRevalidate), !forbidsStale(said),
                    !limits.contains(where: asked.contains)
                else { return reuse == .fresh }
                return now.duration(since: freshUntil(response)) < window
            }
    }

    /// Whether a stale chain may be served because the origin gave no response (section 4.2.4; RFC 5861, section 4).
    ///
    /// A disconnected cache may serve a response of any age. After a server error, the response, the operator or the request
    /// must allow it: the longest `stale-if-error` counts, or the request's `max-stale`. A request with `max-age` or
    /// `min-fresh` accepts no staleness that it does not allow itself (section 5.2.1.1).
    package func mayServeStale(
        _ chain: [CacheableResponse],
        for request: HTTPFields,
        after trouble: Trouble,
        at now: Date
    ) -> Bool {
        let asked = CacheDirectives(of: request)
        guard !chain.isEmpty, !asked.contains(.noCache) else { return false }
        return chain.allSatisfy { response in
            let said = CacheDirectives(of: response.fields)
            guard !forbidsStale(said) else { return false }
            var allowances = [asked.least(.staleIfError), asked.maxStale]
            if !asked.contains(.maxAge), !asked.contains(.minFresh) {
                if trouble == .disconnected { return true }
                allowances += [said.least(.staleIfError), staleIfError]
            }
            guard let longest = allowances.compactMap(\.self).max() else { return false }
            return now.duration(since: freshUntil(response)) <= longest
        }
    }

    /// Whether a response may be stored, or why not.
    package enum Storing: Hashable, Sendable {
        case allowed
        /// The status, the response or the request forbids it, or no later request would match.
        case forbidden
        /// It has neither a lifetime nor `public`, and its status does not permit storing by itself.
        case nothingAllowsIt
    }

    /// Whether the response to a GET may be stored (sections 3, 3.5, 5.2.2.3).
    package func storing(_ response: CacheableResponse, of request: HTTPFields) -> Storing {
        let said = CacheDirectives(of: response.fields)
        // Bodies are stored whole, and a 304 updates a stored response and is none itself.
        let isWhole = (200...599).contains(response.status) && ![206, 304].contains(response.status)
        guard isWhole, !said.contains(.mustUnderstand) || response.isUnderstood else { return .forbidden }
        if said.contains(.noStore), !said.permits(.mustUnderstand) { return .forbidden }
        if CacheDirectives(of: request).contains(.noStore) { return .forbidden }
        if audience == .shared {
            let isOpen = said.permits(.public) || said.contains(.mustRevalidate) || said.contains(.sMaxAge)
            if said.contains(.private) || request.mayHaveCredentials && !isOpen { return .forbidden }
        }
        if Variant.names(in: [response.fields]) == nil { return .forbidden }
        return isWorthKeeping(response, said) ? .allowed : .nothingAllowsIt
    }

    /// The last item of section 3's list.
    private func isWorthKeeping(_ response: CacheableResponse, _ said: CacheDirectives) -> Bool {
        said.permits(.public)
            || said.contains(.private)  // a shared cache has refused it above
            || said.contains(.maxAge)
            || (said.contains(.sMaxAge) && audience == .shared)
            || response.fields["Expires"] != nil
            || response.isHeuristicallyCacheable
            || injectedLifetime(of: response, said) != nil
    }
}
