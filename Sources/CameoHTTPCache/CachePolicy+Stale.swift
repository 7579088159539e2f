package import Foundation

extension CachePolicy {
    /// Why an origin could not be asked.
    package enum Trouble: Hashable, Sendable {
        /// No name, connection or answer at all.
        case disconnected
        /// 500, 502, 503 or 504 (RFC 5861, section 4).
        case serverError

        /// - Parameter status: of the answer that came instead. Nil if it is not one of those for which an older
        ///   answer may stand in.
        package init?(status: Int) {
            guard [500, 502, 503, 504].contains(status) else { return nil }
            self = .serverError
        }
    }

    /// Whether the answer may stand in for one that could not be had (section 4.2.4; RFC 5861, section 4).
    ///
    /// A cache that is cut off may, however old the answer is. For a server in trouble the answer, the operator or the
    /// request must allow it: the longest `stale-if-error` counts, or the request's `max-stale`. A request with `max-age`
    /// or `min-fresh` wants nothing stale but what it allows itself (section 5.2.1.1).
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
