package import CameoHTTPCache
package import CameoModel
package import Foundation

/// Where answers of HTTP servers are kept between fetches, for all processes that share it.
///
/// What goes wrong inside a cache is its own to report: it never fails the fetch that asked it.
package protocol SourceCache: Sendable {
    /// The answers kept for the key, of all variants, the newest first.
    func answers(for key: SourceKey) async -> [CachedSource]

    /// The answer's bytes, whole and of their digest, and notes that they were used. Nil for one that is gone or
    /// damaged, which is then no longer kept.
    func bytes(of answer: CachedSource) async -> Data?

    /// Keeps an answer, unless a later fetch's (``CachedSource/sourceSeen``) is there. Failures of the key are forgotten.
    func keep(_ answer: CachedSource, bytes: Data) async

    /// Puts a new head and number to an answer's bytes, unless the answer is no longer there.
    func freshen(_ answer: CachedSource) async

    func drop(_ answer: CachedSource) async

    /// `number` is that of the fetch that failed, `peers` whom it met.
    func remember(_ failure: JobFailure, of key: SourceKey, until: Date, number: Int64, peers: [Peer]) async

    /// Nil when none is remembered any more.
    func rememberedFailure(of key: SourceKey) async -> RememberedFailure?
}
