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
    package func mayServeStale(
        _ response: CacheableResponse,
        for request: HTTPFields,
        after trouble: Trouble,
        at now: Date
    ) -> Bool { false }
}
