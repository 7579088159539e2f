package import Foundation

extension CachePolicy {
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
        let until = response.responseTime.advanced(by: freshnessLifetime(of: response) - response.initialAge)
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
}
