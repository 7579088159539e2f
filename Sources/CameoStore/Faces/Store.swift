package import CameoModel
package import Foundation

// DESIGN. A store has nine kinds of user, and each has its own small protocol of value types. An engine implements these
// calls and nothing else. They expose no SQL, path or transaction; each call preserves the invariants of its
// transition, and what it returns is durable.

/// A store with all its protocols, as programs open it.
package typealias Store = ProducerStore & WorkerStore & ReaderStore & OperatorStore & SourceStore & BlobStore
    & HookStore & MetricsStore & CheckedStore

/// The base of all store protocols.
package protocol AnyStore: Sendable {
    /// The name that reopens the store; for a folder, its absolute path without symbolic links.
    var location: String { get }
    /// The absolute path, without symbolic links, of the folder that holds the store's files on this machine, which nobody
    /// else should read or write; nil if there is none.
    var folder: String? { get }
    var clock: StoreClock { get }
    /// How long a worker may be silent before others take its jobs. It extends its lease well within this time.
    var lease: Duration { get }
    /// Whether the store is still at its location; false once it was removed or replaced.
    var isInPlace: Bool { get }
    /// What whoever runs the store should change before it does harm; nil: nothing.
    var caution: String? { get }
    /// Why a commit of this process has had no answer for seconds; nil: none waits.
    var commitWait: String? { get }
    /// Calls `tell` with each new reason of ``commitWait``.
    func onCommitWait(_ tell: @escaping @Sendable (String) -> Void)
    /// Lets nobody wait for such a commit after `grace`: the program ends.
    func expectEnd(within grace: Duration)
    /// A number that changes whenever any process commits. Reading it takes microseconds.
    func version() async throws(StoreError) -> Int
    /// Yields once at the start and whenever any process may have changed something, after which it pauses: a busy
    /// store costs one wake-up in each `pause`. Ends only when its task is cancelled.
    func wakeUps(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void>
    /// Does the same for a caller that only wants to know of jobs to claim. Other changes may wake it too.
    func wakeUpsOfWork(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void>
    /// Completes work that calls left for after their return. For a program that is about to exit.
    func finish() async
    /// Like ``finish()``, but blocks. For a program that exits at once.
    func close()
}

/// The limits of one call.
package enum StoreLimits {
    /// The recommended maximum number of requests per call, and so per transaction: more would block other writers for
    /// long.
    package static let enqueueChunk = 1_000
    /// The maximum size of an uploaded picture in bytes.
    package static let uploadBytes = 104_857_600
}

extension AnyStore {
    package func wakeUpsOfWork(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void> { wakeUps(pause: pause) }

    /// Finishes the store after the body, however that ends.
    package func finishing<Value>(_ body: () async throws -> Value) async throws -> Value {
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await finish()
        return try result.get()
    }

    package var caution: String? { nil }
    package var commitWait: String? { nil }
    package func onCommitWait(_ tell: @escaping @Sendable (String) -> Void) {}
    package func expectEnd(within grace: Duration) {}
}

extension ProducerStore {
    /// - Throws: `InvalidRequest` for the first invalid request, before any is accepted; otherwise ``StoreError``.
    package func enqueue(_ requests: [ThumbnailRequest]) async throws -> [EnqueueReceipt] {
        try await enqueue(CheckedRequest.all(requests))
    }
}

/// Operations for programs that request thumbnails.
package protocol ProducerStore: AnyStore {
    /// Accepts all requests, in the given order and durable on return, or none. A request for the same thumbnails as a
    /// waiting job joins that job. If fresh thumbnails already exist, no job is created.
    func enqueue(_ requests: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt]

    /// Accepts a request, or a picture's bytes and a request for them. The request's source then becomes the blob URI of
    /// the bytes or, with a cache key, a URI that names the newest bytes uploaded under that key, which these now are
    /// (invariant I4). Repeated within a day under the same idempotency key, it returns the first receipt and changes
    /// nothing.
    ///
    /// - Throws: `InvalidRequest`, also if the idempotency key was used for another request; ``StoreError``.
    func enqueue(_ request: ThumbnailRequest, data: Data?, cacheKey: CacheKey?, once key: IdempotencyKey?) async throws
        -> EnqueueReceipt
}

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
    /// - Throws: ``StoreError/noSuch(_:_:)``
    func batch(_ name: String) async throws(StoreError) -> BatchReport
    /// The batches that still have jobs, newest first, up to a limit, from a cursor of the previous page on. The cost
    /// grows with the number of their jobs.
    func batches(before cursor: Int64?, limit: Int) async throws(StoreError) -> BatchPage
    /// A thumbnail by its id.
    ///
    /// - Throws: ``StoreError/notFound(uri:)`` if it has not been made yet.
    func thumbnail(_ id: ThumbnailID) async throws(StoreError) -> Thumbnail
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

/// Operations for a worker, from its registration to the settlement of its jobs.
package protocol WorkerStore: AnyStore {
    /// Registers a worker. From now on its death is detected (invariant I7), and its lease must be extended well within
    /// ``Lease/milliseconds``.
    func register(_ worker: WorkerDescription) async throws(StoreError)
    /// Extends a worker's lease and records its progress. Once that is durable, adds what the worker has counted since the
    /// last time to the store's counters, which were not changed if this throws.
    func extendLease(of worker: String, adding counted: StoreCounters, _ progress: WorkerProgress)
        async throws(StoreError)
    /// Removes a worker, and adds what it has counted since the last time. Jobs whose settlement the store refused to
    /// record are released to run again; their attempts are not counted.
    func deregister(_ worker: String, adding counted: StoreCounters) async throws(StoreError)
    /// The information that a worker polls several times a second.
    func sweep(for worker: String) async throws(StoreError) -> WorkerSweep

    /// Claims jobs, lowest rank first, and counts an attempt for each (invariant I1). Returns none if nothing is due, no
    /// queue or concurrency key has room, or the worker was asked to stop. Never claims from paused queues. Background
    /// queues come after all others. First accepts jobs inserted by SQL.
    func claim(_ request: ClaimRequest) async throws(StoreError) -> [ClaimedJob]
    /// The jobs inserted by SQL that this process has refused since the last call.
    func takeRefused() -> [LostJob]
    /// Whether a poison job (see ``ClaimKind/poison``) has waited so long that it no longer gives way to other jobs.
    func hasOverduePoisonJob(queues: [String]?, background: BackgroundJobs) async throws(StoreError) -> Bool
    /// The number of jobs that are available, retryable or running, for which a drain has to wait.
    func unfinishedJobs(queues: [String]?, background: BackgroundJobs) async throws(StoreError) -> Int
    /// Rescues the jobs of workers that died, or were silent for longer than their lease, except those of `own`. The
    /// attempt is not counted; the death is, and at ``ClaimKind/discardAfterCrashes`` the job is discarded.
    func rescueExpired(except own: String?) async throws(StoreError) -> RescueReport

    /// Records the start of a fetch.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid.
    func beginFetch(_ claim: Claim, of request: ThumbnailRequest) async throws(StoreError) -> BegunFetch
    /// Moves an upload's bytes into a blob, which becomes the job's source. Returns the request with that source.
    func absorbUpload(_ job: ClaimedJob) async throws -> ThumbnailRequest
    /// Whether all these thumbnails exist with undamaged bytes: made from what `seen` describes or, with nil, from any
    /// bytes.
    func have(_ thumbnails: [ThumbnailID], as seen: Revalidation?) async throws(StoreError) -> Bool
    /// Ends an attempt.
    ///
    /// - Returns: how the job ended, if not as asked: it was discarded, because no live worker can do it
    ///   (``AttemptEnd/leave(_:until:)``), or cancelled, because another was already waiting for the same thumbnails.
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    @discardableResult
    func settle(_ claim: Claim, as end: AttemptEnd, timings: AttemptTimings) async throws(StoreError) -> End?
}
