package import Foundation

extension CachePolicy {
    /// The part of an answer's age when it was made for which the heuristics take it to be fresh (section 4.2.2).
    private static let heuristicFraction = 10
    /// A picture of three years ago would go unasked for over three months by its tenth alone. A day is what RFC 2616
    /// (section 13.2.4) had caches warn about from then on, and bounds how long a guess can be wrong.
    private static let longestHeuristic = Duration.seconds(86_400)

    /// How long after its origin made it the answer is fresh (section 4.2.1), between zero and 2³¹ seconds.
    package func freshnessLifetime(of response: CacheableResponse) -> Duration {
        if let lifetime = explicitLifetime(of: response) { return lifetime }
        let said = CacheDirectives(of: response.fields)
        return injectedLifetime(of: response, said) ?? heuristicLifetime(of: response, said)
    }

    /// The lifetime that the answer itself names; nil where it leaves it to others.
    package func explicitLifetime(of response: CacheableResponse) -> Duration? {
        let said = CacheDirectives(of: response.fields)
        if audience == .shared, let lifetime = said.least(.sMaxAge) { return lifetime }
        return said.least(.maxAge) ?? response.expiresAfter
    }

    /// How long ago the answer's origin made it or vouched for it (section 4.2.3). A clock that was put back adds
    /// nothing to it.
    package func currentAge(of response: CacheableResponse, at now: Date) -> Duration {
        response.initialAge + max(now.duration(since: response.responseTime), .zero)
    }

    /// The first instant at which the answer is no longer fresh; not after it came if it must be validated every time.
    package func freshUntil(_ response: CacheableResponse) -> Date {
        let until = response.responseTime.advanced(by: freshnessLifetime(of: response) - response.initialAge)
        return CacheDirectives(of: response.fields).contains(.noCache) ? min(until, response.responseTime) : until
    }

    /// The operator's default, where the answer says nothing: validators are no word about caching, and `public` or
    /// `must-revalidate` none about time.
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
