package import CameoHTTPCache
package import CameoModel
package import Foundation

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
