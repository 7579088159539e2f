package import Foundation

extension CachePolicy {
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

    /// Whether a response that is no longer fresh may be served while it is revalidated (RFC 5861, section 3).
    ///
    /// Only the response itself can allow it, and only for the age that it has reached. A request that says how fresh or stale
    /// a response may be accepts no more than it says (section 5.2.1), and one with `only-if-cached` wants no request sent.
    package func mayServeWhileRevalidating(
        _ response: CacheableResponse,
        for request: HTTPFields,
        at now: Date
    ) -> Bool {
        let said = CacheDirectives(of: response.fields)
        let asked = CacheDirectives(of: request)
        let limits: [CacheDirectives.Name] = [.maxAge, .minFresh, .maxStale, .onlyIfCached]
        guard let window = said.least(.staleWhileRevalidate), !forbidsStale(said),
            !limits.contains(where: asked.contains), reuse(of: response, for: request, at: now) == .stale(.expired)
        else { return false }
        return now.duration(since: freshUntil(response)) < window
    }

    /// Whether a stale response may be served because the origin gave none (section 4.2.4; RFC 5861, section 4).
    ///
    /// A disconnected cache may serve a response of any age. After a server error, the response, the operator or the request
    /// must allow it: the longest `stale-if-error` counts, or the request's `max-stale`. A request with `max-age` or
    /// `min-fresh` accepts no staleness that it does not allow itself (section 5.2.1.1).
    package func mayServeStale(
        _ response: CacheableResponse,
        for request: HTTPFields,
        after trouble: Trouble,
        at now: Date
    ) -> Bool {
        let said = CacheDirectives(of: response.fields)
        let asked = CacheDirectives(of: request)
        guard !forbidsStale(said), !asked.contains(.noCache) else { return false }

        var allowances = [asked.least(.staleIfError), asked.maxStale]
        if !asked.contains(.maxAge), !asked.contains(.minFresh) {
            if trouble == .disconnected { return true }
            allowances += [said.least(.staleIfError), staleIfError]
        }
        guard let longest = allowances.compactMap(\.self).max() else { return false }
        return now.duration(since: freshUntil(response)) <= longest
    }
}
