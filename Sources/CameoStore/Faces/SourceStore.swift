package import CameoHTTPCache
package import CameoModel
package import Foundation

/// The cache of originals. What may be kept and served is decided elsewhere; here answers of different credentials never
/// meet, and an answer of an older fetch never replaces one of a newer (invariant I4).
package protocol SourceStore: AnyStore {
    /// A number for a fetch that begins now and belongs to no job.
    func nextSourceSeen() async throws(StoreError) -> Int64
    /// All answers that are kept under a key, the newest first.
    func cachedSources(_ key: SourceKey) async throws(StoreError) -> [CachedSource]
    /// The newest answer to a request without credentials: what `cameo://source/…` names. Others are their tenants' own.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    func cachedSource(_ uri: String) async throws(StoreError) -> CachedSource
    /// Keeps an answer, whose bytes are `data`, and forgets a failure that was remembered under its key. `budget` is the
    /// bytes of all answers together, but for pinned ones; nil: no limit.
    @discardableResult
    func keep(_ source: CachedSource, data: Data, budget: Int?) async throws(StoreError) -> KeptSource
    /// Writes down what a 304 changed. False if the answer is no longer there, or is another by now.
    func freshen(_ source: CachedSource) async throws(StoreError) -> Bool
    /// Notes that an answer was used, to the minute.
    func touch(_ source: CachedSource) async throws(StoreError)
    /// Removes an answer, unless a newer one has taken its place.
    func dropCachedSource(_ source: CachedSource) async throws(StoreError)
    /// Remembers a failure until a time, and whom the fetch met. One of a newer fetch stays, and so does an answer that was
    /// kept since.
    func remember(_ failure: JobFailure, of key: SourceKey, until: Date, seen: Int64, peers: [Peer])
        async throws(StoreError)
    /// Nil when none is remembered, or its time is over.
    func rememberedFailure(of key: SourceKey) async throws(StoreError) -> RememberedFailure?
    /// Removes a few answers that were not used for longest, while there are more bytes than the budget.
    func evictSources(over budget: Int, atMost limit: Int) async throws(StoreError) -> EvictedSources
    /// Removes everything that is cached of a source, whoever fetched it, and the memory of its failures.
    func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource
}
