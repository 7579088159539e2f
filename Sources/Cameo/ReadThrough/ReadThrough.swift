/// The rules for reading `http:` and `https:` URLs through the store: loaded responses are stored, and fresh stored responses
/// are served without loading them again (RFC 9111). See <doc:ReadingTheWeb>.
public struct ReadThrough: Hashable, Sendable {
    /// How responses to requests with credentials are cached. Credentials are cookies, a user name in the URL, and all headers
    /// except those that only state the requester's preferences.
    public enum Credentials: Hashable, Sendable {
        /// Each set of credentials has a separate cache, so a response is never served to other credentials.
        case keptApart
        /// The responses are never stored.
        case notKept
    }

    /// How long a picture or redirect without caching information is fresh; nil uses the heuristic of RFC 9111, section
    /// 4.2.2.
    public var defaultLifetime: Duration?
    /// How long a stale response may be served after a server error, even if neither the response nor the request allows it.
    /// Directives that forbid staleness (`must-revalidate`, `no-cache`) take precedence.
    public var staleIfError: Duration
    /// The maximum size of a stored response in bytes. A larger one is passed on but not stored.
    public var maximumBytes: Int
    /// The maximum size of all cached originals in the store in bytes, including those of workers. Beyond it, the least
    /// recently used ones are evicted. Nil evicts nothing.
    public var budget: Int?
    /// How responses to requests with credentials are cached.
    public var credentials: Credentials

    /// - Parameters:
    ///   - defaultLifetime: the lifetime of responses without caching information.
    ///   - staleIfError: the allowed staleness after a server error.
    ///   - maximumBytes: the maximum size of a stored response; 100 MiB, the workers' limit for a source.
    ///   - budget: the maximum size of all cached originals in bytes.
    ///   - credentials: how responses to requests with credentials are cached.
    public init(
        defaultLifetime: Duration? = nil,
        staleIfError: Duration = .zero,
        maximumBytes: Int = 104_857_600,
        budget: Int? = nil,
        credentials: Credentials = .keptApart
    ) {
        self.defaultLifetime = defaultLifetime
        self.staleIfError = staleIfError
        self.maximumBytes = maximumBytes
        self.budget = budget
        self.credentials = credentials
    }
}
