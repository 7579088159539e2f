package import CameoHTTPCache
package import CameoModel
package import CameoSystem
package import Foundation
internal import Glibc

/// Stores responses of HTTP servers between fetches, for all processes that share it.
///
/// A cache reports its own errors; they never fail a fetch.
package protocol SourceCache: Sendable {
    /// The responses stored under the key, of all variants, the newest first.
    func answers(for key: SourceKey) async -> [CachedSource]

    /// The complete body, verified by its digest; its use is noted. Nil for one that is gone or damaged, which is then
    /// dropped.
    func bytes(of answer: CachedSource) async -> Data?

    /// Stores a response, unless one of a later fetch (``CachedSource/sourceSeen``) is stored. Remembered failures of the
    /// key are forgotten.
    func keep(_ answer: CachedSource, bytes: Data) async

    /// Gives a stored body a new head and number, unless it has been dropped or replaced.
    func freshen(_ answer: CachedSource) async

    func drop(_ answer: CachedSource) async

    /// Keeps the beginning of a response whose transfer broke off, in place of an older one.
    func keepPartial(_ partial: PartialResponse, bytes: Data, of key: SourceKey) async

    /// What is kept of a broken transfer, and a file whose rest, from its offset on, should be its bytes. They are not
    /// verified.
    func partial(of key: SourceKey) async -> (PartialResponse, OpenFile)?

    func dropPartial(of key: SourceKey) async

    /// `number` is that of the failed fetch, `peers` are the servers that it reached.
    func remember(_ failure: JobFailure, of key: SourceKey, until: Date, number: Int64, peers: [Peer]) async

    /// The remembered failure; nil if there is none or its time is over.
    func rememberedFailure(of key: SourceKey) async -> RememberedFailure?
}

/// The operator's settings for the cache, beyond RFC 9111.
package struct CacheRules: Sendable {
    /// How long a response without caching information is fresh.
    package struct Lifetime: Sendable {
        /// `example.com` or `example.com:8080`; nil for all hosts without a rule of their own.
        package let host: String?
        package let lifetime: Duration

        package init(host: String?, _ lifetime: Duration) {
            self.host = host
            self.lifetime = lifetime
        }
    }

    /// The last matching rule counts, and a rule for the host takes precedence over a general one. The host is that of the
    /// source, wherever it redirects to.
    package var lifetimes: [Lifetime] = []
    /// How long a stale response may be served after a server error, even if neither response nor request allows it.
    package var staleIfError: Duration = .zero
    /// How long a failure is remembered that does not state a time itself; zero remembers none.
    package var failureMemory: Duration = .seconds(10)

    package init() {}
}

extension RequestScope {
    /// The scope of all credentials of a request: its headers, and the user name and password of its URL in the form of the
    /// header that they become.
    package init?(of uri: String, headers: [String: String]) {
        var all = headers
        // The name cannot be that of a header, so requests that differ in either have different scopes.
        all["user information"] = (try? HTTPURL(parsing: uri))?.authorization
        self.init(headers: all)
    }
}

extension Download.Body {
    /// The pages of the memory file itself, without a copy; nil if there is no address space for them. The file is sealed, so
    /// they never change, and they stay mapped as long as the value exists.
    func mapped() -> Data? {
        let count = bytes
        guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.descriptor, 0), start != MAP_FAILED else {
            return nil
        }
        return Data(bytesNoCopy: start, count: count, deallocator: .custom { munmap($0, $1) })
    }
}

extension JobFailure {
    /// Whether the source or the connection to it failed, rather than a check of this worker.
    var isOfTheSource: Bool { code == .sourceUnreachable || code == .sourceTimeout }

    /// Whether there was no response, or no complete one. A server with an untrusted certificate is not a disconnection.
    var isDisconnection: Bool { isOfTheSource && isRetryable }
}

extension RememberedFailure {
    /// The failure for a fetch that is answered from memory. Its next attempt waits until the memory expires.
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
