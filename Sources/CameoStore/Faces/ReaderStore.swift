package import CameoModel

/// For whoever looks. Nothing here changes the store.
package protocol ReaderStore: AnyStore {
    /// One job with all its attempts.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    func job(_ id: Int64) async throws(StoreError) -> Job
    /// The job that takes the place of this one, and so on to the last of them; if none does, or retention has taken that
    /// one, the job itself. Whoever waits for a job waits for that one.
    func jobInPlace(of id: Int64) async throws(StoreError) -> Job
    /// Jobs, newest first, without their attempts.
    func jobs(_ filter: JobFilter) async throws(StoreError) -> [Job]
    /// How many jobs a filter meets now, at most its limit.
    func count(_ filter: JobFilter) async throws(StoreError) -> Int
    /// What became of these jobs so far: of one that was superseded, the job that took its place. Ids that do not exist
    /// are left out.
    func places(of ids: [Int64]) async throws(StoreError) -> [Int64: JobPlace]
    /// Changes of jobs behind a cursor, in the order of their commits: each once, for as long as history is kept.
    func changes(since cursor: Int64, limit: Int) async throws(StoreError) -> [JobChange]
    /// Where the feed of changes ends now; 0 before the first.
    func lastChange() async throws(StoreError) -> Int64
    /// The state of the store now. Costs the same however many jobs there are.
    func status() async throws(StoreError) -> StatusReport
    /// Every queue that a job or an operator has named, by name.
    func queues() async throws(StoreError) -> [StatusReport.Queue]
    /// How far a batch is: the jobs that its requests made or joined.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)``
    func batch(_ name: String) async throws(StoreError) -> BatchReport
    /// A thumbnail by its id.
    ///
    /// - Throws: ``StoreError/notFound(uri:)`` if it was not made yet.
    func thumbnail(_ id: ThumbnailID) async throws(StoreError) -> Thumbnail
    /// The concurrency keys with due or running jobs, and those that an operator has limited, by name.
    func concurrencyLimits() async throws(StoreError) -> [ConcurrencyLimit]
    /// What one concurrency key allows; of a key that nobody has named, what its first request would be allowed.
    func concurrencyLimit(of key: String) async throws(StoreError) -> ConcurrencyLimit
}

extension ReaderStore {
    /// The states of ``places(of:)``.
    package func states(of ids: [Int64]) async throws(StoreError) -> [Int64: JobState] {
        try await places(of: ids).mapValues(\.state)
    }

    /// One of the queues.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)``
    package func queue(_ name: String) async throws(StoreError) -> StatusReport.Queue {
        // By bytes: two names that only look alike are two queues.
        guard let queue = try await queues().first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            throw .noSuch(.queue, name)
        }
        return queue
    }
}
