/// How a session reads `http:` and `https:` URLs through the store: what it loads is kept there, and what is there and
/// fresh is not loaded again (RFC 9111). <doc:ReadingTheWeb> tells what that means for requests and answers.
public struct ReadThrough: Hashable, Sendable {
    /// What becomes of answers to requests that carry credentials: any header but those that say only what the
    /// requester likes to get, cookies included, or a user name in the URL.
    public enum Credentials: Hashable, Sendable {
        /// Each set of credentials has a cache of its own, so that what one may see never answers another.
        case keptApart
        /// They are loaded each time, and not kept.
        case notKept
    }

    /// How long a picture or a redirect is fresh that says nothing of caching at all; nil leaves it to the heuristics
    /// of RFC 9111, section 4.2.2.
    public var defaultLifetime: Duration?
    /// How long past its freshness an answer may stand in for a server in trouble, where neither the answer nor the
    /// request allows it. What forbids stale answers (`must-revalidate`, `no-cache`) overrules it.
    public var staleIfError: Duration
    /// Bytes of one answer. A larger one is handed on, and not kept.
    public var maximumBytes: Int
    /// Bytes of all kept originals of the store, those of its workers included: keeping one more evicts what was not
    /// used for longest. Nil evicts nothing.
    public var budget: Int?
    /// What becomes of answers to requests that carry credentials.
    public var credentials: Credentials

    /// - Parameters:
    ///   - defaultLifetime: of answers that say nothing of caching.
    ///   - staleIfError: beyond what answers allow.
    ///   - maximumBytes: of one answer; 100 MiB, as much as workers take for a source.
    ///   - budget: bytes of all that is kept.
    ///   - credentials: whether answers to requests that carry some are kept.
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
