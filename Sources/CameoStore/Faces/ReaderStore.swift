package import CameoHTTPCache
package import CameoModel
package import Foundation

/// Operations that only read: jobs and their surroundings, thumbnails and bytes. None of them changes the store, except
/// that a reading is noted.
package protocol ReaderStore: AnyStore {
    /// One job with all its attempts.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    func job(_ id: Int64) async throws(StoreError) -> Job
    /// Follows a superseded job to the last job that took its place. Returns the job itself if it was not superseded or
    /// if retention has removed the other. Waiting for a job means waiting for this one.
    func jobInPlace(of id: Int64) async throws(StoreError) -> Job
    /// The jobs that match a filter, newest first, without their attempts.
    func jobs(_ filter: JobFilter) async throws(StoreError) -> [Job]
    /// The number of jobs that match a filter, up to its limit.
    func count(_ filter: JobFilter) async throws(StoreError) -> Int
    /// The current states of these jobs; a superseded job is represented by the job that took its place. Ids that do
    /// not exist are omitted.
    func places(of ids: [Int64]) async throws(StoreError) -> [Int64: JobPlace]
    /// State changes after a cursor, nil for the present, in commit order, each exactly once, as long as history is kept.
    func changes(since cursor: FeedCursor?, limit: Int) async throws(StoreError) -> FeedPage
    /// The current state of the store. The cost does not depend on the number of jobs.
    func status() async throws(StoreError) -> StatusReport
    /// Why due jobs are not worked on, for those who wait for them. The cost does not depend on the number of jobs.
    func standstills() async throws(StoreError) -> [Standstill]
    /// Every queue that a job or an operator has named, sorted by name.
    func queues() async throws(StoreError) -> [StatusReport.Queue]
    /// The progress of a batch: the jobs that its requests created or joined.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)``; ``StoreError/batchWithoutJobs(_:)`` if only thumbnails are left of it.
    func batch(_ name: String) async throws(StoreError) -> BatchReport
    /// The ends of sealed batches since a time, in their order.
    func batchEnds(since time: Date, limit: Int) async throws(StoreError) -> [BatchEnd]
    /// The batches that still have jobs, newest first, up to a limit, from a cursor of the previous page on. The cost
    /// grows with the number of their jobs.
    func batches(before cursor: Int64?, limit: Int) async throws(StoreError) -> BatchPage
    /// A thumbnail by its id.
    ///
    /// - Throws: ``StoreError/notFound(uri:)`` if it has not been made yet.
    func thumbnail(_ id: ThumbnailID) async throws(StoreError) -> Thumbnail
    /// The job that will make a thumbnail or, if none will, the last that was to; nil if none was in the last week.
    func promise(of id: ThumbnailID) async throws(StoreError) -> Promise?
    /// Whether a name refers to nothing because that was forgotten, in the last month.
    func wasForgotten(_ uri: CameoURI) async throws(StoreError) -> Bool
    /// What is known of those of these thumbnails that exist, in their order.
    func facts(of ids: [ThumbnailID]) async throws(StoreError) -> [ThumbnailFacts]
    /// The thumbnails that match a filter, after a cursor that the page before gave (``ThumbnailPage``).
    ///
    /// - Throws: ``StoreError/refused(reason:)`` for a cursor whose thumbnail is gone, and for too long a prefix.
    func thumbnails(where filter: ThumbnailFilter, after cursor: String?, limit: Int) async throws(StoreError)
        -> ThumbnailPage
    /// What a thumbnail's name refers to, without a change of threads; nil if it has not been made yet, or if the store cannot
    /// tell within microseconds.
    func contentAtOnce(of id: ThumbnailID) -> StoredContent?
    /// The sources that have thumbnails, with these, from a cursor of the previous page on. Up to `limit` sources are
    /// examined.
    func knownSources(_ selection: KnownSourceSelection, after cursor: String?, limit: Int) async throws(StoreError)
        -> KnownSourcePage
    /// The concurrency keys that have due or running jobs or an operator's limit, sorted by name.
    func concurrencyLimits() async throws(StoreError) -> [ConcurrencyLimit]
    /// The limit of one concurrency key; for a key never used, the limit that its first request would get.
    func concurrencyLimit(of key: String) async throws(StoreError) -> ConcurrencyLimit
    /// The tenants that have jobs, or had some in the last minute, by queue.
    func tenants(_ choice: TenantChoice) async throws(StoreError) -> TenantList
    /// The hooks that a delivery, a queue or a worker names, sorted by name, each with up to `failures` of its latest
    /// failures.
    func hooks(failures: Int) async throws(StoreError) -> [HookReport]
    /// The counters and sizes now. The cost does not depend on the number of jobs.
    func metrics() async throws(StoreError) -> StoreMetrics

    // MARK: - Blobs: immutable bytes by their digest (invariant I6)

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
    /// The newest answer to a request without credentials, which `cameo://source/…` names. Other answers are private to
    /// their tenants.
    ///
    /// - Throws: ``StoreError/notFound(uri:)``
    func cachedSource(_ uri: String) async throws(StoreError) -> CachedSource
}

extension ReaderStore {
    package func contentAtOnce(of id: ThumbnailID) -> StoredContent? { nil }

    /// The states of ``places(of:)``.
    package func states(of ids: [Int64]) async throws(StoreError) -> [Int64: JobState] {
        try await places(of: ids).mapValues(\.state)
    }

    package func queue(_ name: String) async throws(StoreError) -> StatusReport.Queue {
        // Compared by bytes: two names that only look alike are two queues.
        guard let queue = try await queues().first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            throw .noSuch(.queue, name)
        }
        return queue
    }
}
