/// How the bytes of a source were obtained.
package enum SourceArrival: Hashable, Sendable {
    /// They were fetched from the source.
    case fetched
    /// They came from the cache, after the server confirmed them (304).
    case revalidated
    /// They came fresh from the cache. `age` is computed by RFC 9111, section 4.2.3.
    case cached(age: Duration)
    /// They came stale from the cache, because the server could not be asked. `trouble` gives the reason.
    case stale(age: Duration, trouble: String)

    /// A single word for logs.
    package var name: String {
        switch self {
        case .fetched: "fetched"
        case .revalidated: "revalidated"
        case .cached: "cached"
        case .stale: "stale"
        }
    }
}
