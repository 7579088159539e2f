/// How the bytes of a source came to the job that wants them.
package enum SourceArrival: Hashable, Sendable {
    /// From where they are.
    case fetched
    /// From the cache, after their server said that they are still the same (304).
    case revalidated
    /// From the cache, fresh; `age` as RFC 9111, section 4.2.3, counts it.
    case cached(age: Duration)
    /// From the cache although no longer fresh, because their server could not be asked: `trouble` says why.
    case stale(age: Duration, trouble: String)

    /// One word, for logs.
    package var name: String {
        switch self {
        case .fetched: "fetched"
        case .revalidated: "revalidated"
        case .cached: "cached"
        case .stale: "stale"
        }
    }
}
