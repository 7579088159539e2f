package import CameoHTTPCache
package import CameoModel
package import CameoSystem
package import Foundation

/// Operations for a worker, from its registration to the settlement of its jobs, with the cache of originals and the
/// delivery of jobs' ends to hooks.
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
    func beginFetch(_ claim: Claim, of request: ThumbnailRequest) async throws(StoreError) -> FetchTicket
    /// Moves an upload's bytes into a blob, which becomes the job's source. Returns the request with that source.
    func absorbUpload(_ job: ClaimedJob) async throws -> ThumbnailRequest
    /// Reads some of the uploads that wait for a worker, the oldest first, so that their thumbnails are known.
    func readUploads() async throws(StoreError)
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

    // MARK: - The cache of originals

    // Other code decides what may be kept and served. Here, answers for different credentials are kept apart, and an answer
    // of an older fetch never replaces one of a newer (invariant I4).

    /// Issues the number of a fetch that begins now and belongs to no job.
    func nextSourceSeen() async throws(StoreError) -> Int64
    /// All answers kept under a key, newest first.
    func cachedSources(_ key: SourceKey) async throws(StoreError) -> [CachedSource]
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

    // MARK: - Hooks

    /// Ends the sealed batches of which no job is left.
    func endSealedBatches() async throws(StoreError)
    // The delivery itself is entered by whatever ends the job, in the same transaction.

    /// Records the hooks that a worker can deliver to, in place of those recorded before.
    func note(hooks: [String], of worker: String) async throws(StoreError)
    /// Claims deliveries that are due, oldest first: for each hook up to a number. A claim is released if the worker
    /// dies, or is silent beyond its lease (invariant I7).
    func claimDeliveries(_ room: [String: Int], for worker: String) async throws(StoreError) -> [ClaimedDelivery]
    /// The message to deliver.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)`` if the job was removed meanwhile.
    func message(of delivery: ClaimedDelivery) async throws(StoreError) -> HookMessage
    /// Ends a try.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    func settle(_ delivery: ClaimedDelivery, as end: DeliveryEnd) async throws(StoreError)
}
