package import CameoHTTPCache
package import CameoModel
package import CameoSystem
package import Foundation

/// Access to immutable bytes by their digest (invariant I6).
package protocol BlobStore: AnyStore {
    /// Stores bytes durably and returns their digest. Storing the same bytes again returns the same digest and keeps
    /// the first media type.
    ///
    /// - Throws: ``StoreError/full(path:)``, ``StoreError/readOnly(path:)``
    func store(_ data: Data, mediaType: String?) async throws(StoreError) -> BlobDigest
    /// A blob's bytes, verified against their digest.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``, ``StoreError/damagedBlob(digest:isMissing:)``,
    ///   ``StoreError/unreadableBlob(path:reason:)``
    func data(of digest: BlobDigest) async throws(StoreError) -> Data
    /// A blob's bytes for a reader that takes them piece by piece; a small blob comes at once.
    ///
    /// - Throws: as ``data(of:)-(BlobDigest)``
    func bytes(of digest: BlobDigest) async throws(StoreError) -> BlobBytes
    /// The bytes that a `cameo:` URI currently names.
    func data(of uri: CameoURI) async throws(StoreError) -> Data
    /// The size of the bytes that a `cameo:` URI currently names.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    func size(of uri: CameoURI) async throws(StoreError) -> Int
    /// The media type that a blob was stored with; nil if none was given.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    func mediaType(of digest: BlobDigest) async throws(StoreError) -> String?
    /// A URL from which anyone can read a blob's bytes without the store, unverified, until it expires
    /// (``ByteStorage/temporaryURL(of:on:)``).
    ///
    /// - Returns: the URL; nil if the bytes are in the store itself, where small ones always are.
    /// - Throws: ``StoreError/notFound(uri:)``, except for a store that has no such URLs.
    func temporaryURL(of digest: BlobDigest, on terms: TemporaryURLTerms) async throws(StoreError) -> TemporaryURL?
    /// The scheme, host and port of all temporary URLs at an endpoint, or at the storage's own; nil if the store has none.
    func temporaryURLOrigin(at endpoint: Endpoint?) -> String?
    /// Records that a URI was read, to the hour (``Retention/readingStep``). Returns at once and never fails.
    func noteReading(of uri: CameoURI)
}

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
    /// Evicts up to `limit` least recently used answers while the cache exceeds its budget. Returns whether it is within its
    /// budget now.
    func evictSources(over budget: Int, atMost limit: Int) async throws(StoreError) -> Bool
    /// Removes everything cached for a source, for all credentials, and its remembered failures.
    func forgetSource(_ uri: String, _ extent: ForgottenExtent) async throws(StoreError) -> ForgottenSource
    /// Removes thumbnails, whose URIs resolve to nothing until they are made again. Those that an unfinished job needs
    /// are kept. Returns the number of those removed.
    func removeThumbnails(_ ids: [ThumbnailID]) async throws(StoreError) -> Int
}
