package import CameoHTTPCache
package import CameoModel
package import Foundation

/// The cache of originals. Other code decides what may be kept and served. Here, answers for different credentials are
/// kept apart, and an answer of an older fetch never replaces one of a newer (invariant I4).
package protocol SourceStore: AnyStore {
    /// Issues the number of a fetch that begins now and belongs to no job.
    func nextSourceSeen() async throws(StoreError) -> Int64
    /// All answers kept under a key, newest first.
    func cachedSources(_ key: SourceKey) async throws(StoreError) -> [CachedSource]
    /// The newest answer to a request without credentials, which `cameo://source/…` names. Other answers are private to
    /// their tenants.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    func cachedSource(_ uri: String) async throws(StoreError) -> CachedSource
    /// Keeps an answer with its bytes and removes a failure remembered under its key. `budget` limits the total bytes
    /// of all answers except pinned ones; nil: no limit.
    @discardableResult
    func keep(_ source: CachedSource, data: Data, budget: Int?) async throws(StoreError) -> KeptSource
    /// Records what a 304 changed. Returns false if the answer has been removed or replaced.
    func freshen(_ source: CachedSource) async throws(StoreError) -> Bool
    /// Records that an answer was used, to the minute.
    func touch(_ source: CachedSource) async throws(StoreError)
    /// Removes an answer, unless a newer one has replaced it.
    func dropCachedSource(_ source: CachedSource) async throws(StoreError)
    /// Remembers a failure and the fetch's peers until a time. A failure of a newer fetch takes precedence, and so does
    /// an answer kept since.
    func remember(_ failure: JobFailure, of key: SourceKey, until: Date, seen: Int64, peers: [Peer])
        async throws(StoreError)
    /// The remembered failure; nil if there is none or it has expired.
    func rememberedFailure(of key: SourceKey) async throws(StoreError) -> RememberedFailure?
    /// Keeps the beginning of a response whose transfer broke off, in place of an older one. It may be lost at any time, and
    /// is for an hour at most.
    func keepPartial(_ partial: PartialResponse, bytes: Data, of key: SourceKey) async throws(StoreError)
    /// What is kept of a broken transfer, and a file whose rest, from its offset on, should be its bytes: the reader has to
    /// verify them.
    func partial(of key: SourceKey) async throws(StoreError) -> (PartialResponse, OpenFile)?
    func dropPartial(of key: SourceKey) async throws(StoreError)
    /// Evicts up to `limit` least recently used answers while the cache exceeds its budget.
    func evictSources(over budget: Int, atMost limit: Int) async throws(StoreError) -> EvictedSources
    /// Removes everything cached for a source, for all credentials, and its remembered failures.
    func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource
    /// Removes thumbnails, whose URIs resolve to nothing until they are made again. Those that an unfinished job needs
    /// are kept. Returns the number of those removed.
    func removeThumbnails(_ ids: [ThumbnailID]) async throws(StoreError) -> Int
}
