package import CameoModel

/// Read-only operations; none of them changes the store.
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
    /// State changes after a cursor, in commit order, each exactly once, as long as history is kept.
    func changes(since cursor: Int64, limit: Int) async throws(StoreError) -> [JobChange]
    /// The cursor of the last change; 0 if there is none.
    func lastChange() async throws(StoreError) -> Int64
    /// The current state of the store. The cost does not depend on the number of jobs.
    func status() async throws(StoreError) -> StatusReport
    /// Every queue that a job or an operator has named, sorted by name.
    func queues() async throws(StoreError) -> [StatusReport.Queue]
    /// The progress of a batch: the jobs that its requests created or joined.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)``
    func batch(_ name: String) async throws(StoreError) -> BatchReport
    /// The batches that still have jobs, newest first, up to a limit, from a cursor of the previous page on. The cost
    /// grows with the number of their jobs.
    func batches(before cursor: Int64?, limit: Int) async throws(StoreError) -> BatchPage
    /// A thumbnail by its id.
    ///
    /// - Throws: ``StoreError/notFound(uri:)`` if it has not been made yet.
    func thumbnail(_ id: ThumbnailID) async throws(StoreError) -> Thumbnail
    /// The sources that have thumbnails, with these, from a cursor of the previous page on. Up to `limit` sources are
    /// examined.
    func knownSources(_ selection: KnownSourceSelection, after cursor: String?, limit: Int) async throws(StoreError)
        -> KnownSourcePage
    /// The concurrency keys that have due or running jobs or an operator's limit, sorted by name.
    func concurrencyLimits() async throws(StoreError) -> [ConcurrencyLimit]
    /// The limit of one concurrency key; for a key never used, the limit that its first request would get.
    func concurrencyLimit(of key: String) async throws(StoreError) -> ConcurrencyLimit
}

extension ReaderStore {
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
