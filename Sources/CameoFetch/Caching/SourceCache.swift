package import CameoModel
package import Foundation

/// Where answers of HTTP servers are kept between fetches, for all processes that share it.
///
/// What goes wrong inside a cache is its own to report: it never fails the fetch that asked it.
package protocol SourceCache: Sendable {
    /// The answers kept for the key, of all variants, the newest first.
    func answers(for key: SourceCacheKey) async -> [CachedAnswer]

    /// The answer's bytes, whole and of their digest, and notes that they were used. Nil for one that is gone or
    /// damaged, which is then no longer kept.
    func bytes(of answer: CachedAnswer) async -> Data?

    /// Keeps an answer, unless a later fetch's (``CachedAnswer/number``) is there. Failures of the key are forgotten.
    func keep(_ answer: CachedAnswer, bytes: Data) async

    /// Puts a new head and number to an answer's bytes, unless the answer is no longer there.
    func freshen(_ answer: CachedAnswer) async

    func drop(_ answer: CachedAnswer) async

    /// `number` is that of the fetch that failed.
    func remember(_ failure: JobFailure, of key: SourceCacheKey, until: Date, number: Int64) async

    /// Nil when none is remembered any more.
    func rememberedFailure(of key: SourceCacheKey) async -> RememberedSourceFailure?
}

/// What answers are kept under.
package struct SourceCacheKey: Hashable, Sendable {
    /// Exactly as it was asked for, before any rewriting.
    package let uri: String
    /// Of the request's credentials; nil for what anybody would get.
    package let scope: RequestScope?

    package init(uri: String, scope: RequestScope?) {
        self.uri = uri
        self.scope = scope
    }
}

/// What a source's server said, or that it could not be reached, a moment ago.
package struct RememberedSourceFailure: Sendable {
    package let failure: JobFailure
    package let since: Date
    package let until: Date

    package init(_ failure: JobFailure, since: Date, until: Date) {
        self.failure = failure
        self.since = since
        self.until = until
    }

    /// The next attempt, which is not answered from memory, waits until this is over: its server said so, or was found
    /// unable to answer just now.
    func repeated(at now: Date) -> JobFailure {
        JobFailure(
            failure.code,
            at: failure.stage,
            "\(failure.message) (remembered since \(WireFormat.text(of: since)), asked again from "
                + "\(WireFormat.text(of: until)) on)",
            isRetryable: failure.isRetryable,
            retryAfter: failure.isRetryable ? .seconds(max(0, until.timeIntervalSince(now))) : nil
        )
    }
}
