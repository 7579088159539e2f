package import CameoModel

/// Operations for a worker, from its registration to the settlement of its jobs.
package protocol WorkerStore: AnyStore {
    /// Registers a worker. From now on its death is detected (invariant I7), and its lease must be extended well within
    /// ``Lease/milliseconds``.
    func register(_ worker: WorkerDescription) async throws(StoreError)
    /// Extends a worker's lease and records how far its downloads have come. Once that is durable, adds what the worker has
    /// counted since the last time to the store's counters, which were not changed if this throws.
    func extendLease(of worker: String, adding counted: StoreCounters, transfers: [RunningTransfer])
        async throws(StoreError)
    /// Removes a worker, and adds what it has counted since the last time. Jobs whose settlement the store refused to
    /// record are released to run again; their attempts are not counted.
    func deregister(_ worker: String, adding counted: StoreCounters) async throws(StoreError)
    /// The information that a worker polls several times a second.
    func sweep(for worker: String) async throws(StoreError) -> WorkerSweep
    /// Yields once at the start and whenever any process may have changed something, after which it pauses: a busy
    /// store costs one wake-up in each `pause`. Ends only when its task is cancelled.
    func wakeUps(pause: @escaping @Sendable () -> Duration) -> AsyncStream<Void>

    /// Claims up to `limit` jobs, lowest rank first, and counts an attempt for each (invariant I1). Returns none if
    /// nothing is due, no queue or concurrency key has room, or the worker was asked to stop. Claims only from
    /// `queues`, or from all if nil, and never from paused queues. Background queues come after all others, and at most
    /// `background` of the jobs are theirs. First accepts jobs inserted by SQL.
    func claim(limit: Int, background: Int, kind: ClaimKind, queues: [String]?, for worker: String)
        async throws(StoreError) -> [ClaimedJob]
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
    /// Stores all thumbnails of a job and completes it, atomically (invariant I2).
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    func complete(_ claim: Claim, with product: JobProduct, timings: AttemptTimings) async throws(StoreError)
    /// Ends an attempt without thumbnails. Returns whether the job waits again or was superseded by one for the same
    /// thumbnails.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    func settle(_ claim: Claim, as end: AttemptEnd, timings: AttemptTimings) async throws(StoreError) -> Settlement
}
