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

    /// Whether a stored answer of the right variant may answer a request (sections 4, 5.2.1).
    package func reuse(of response: CacheableResponse, for request: HTTPFields, at now: Date) -> Reuse {
        .stale(.expired)
    }
}
