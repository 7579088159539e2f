package import CameoModel

/// For a worker: from its registration to the end of every job that it claims.
package protocol WorkerStore: AnyStore {
    /// Enters a worker. From now on its death is seen (invariant I7), and its lease must be extended well within
    /// ``Lease/milliseconds``.
    func register(_ worker: WorkerDescription) async throws(StoreError)
    /// Tells that the worker is well.
    func extendLease(of worker: String) async throws(StoreError)
    /// Leaves the store. Jobs whose end the store refused to record are given back uncharged, to be run again.
    func deregister(_ worker: String) async throws(StoreError)
    /// What a worker has to know several times a second.
    func sweep(for worker: String) async throws(StoreError) -> WorkerSweep
    /// An element whenever any process may have changed something, and one at the beginning. Ends with its task only.
    func wakeUps() -> AsyncStream<Void>

    /// Takes up to `limit` jobs, lowest rank first, charging each an attempt (invariant I1). Empty when nothing is due, no
    /// queue and no concurrency key has room, or the worker was asked to end. Takes only from `queues`, or from all when
    /// that is nil; paused queues give nothing. Accepts what SQL has put in first.
    func claim(limit: Int, kind: ClaimKind, queues: [String]?, for worker: String) async throws(StoreError)
        -> [ClaimedJob]
    /// Jobs that this process has refused since it was last asked, when it accepted what SQL had put in.
    func takeRefused() -> [LostJob]
    /// Whether a poison job (see ``ClaimKind/poison``) no longer waits for all other jobs to be done.
    func hasOverduePoisonJob(queues: [String]?) async throws(StoreError) -> Bool
    /// How many jobs wait to be run now or after a back-off, and how many run: what a drain has to wait for.
    func unfinishedJobs(queues: [String]?) async throws(StoreError) -> Int
    /// Takes back the jobs of workers that died, or fell silent for longer than their lease, except of `own`. The attempt
    /// is not charged; the death is counted, and after ``ClaimKind/discardAfterCrashes`` the job is discarded.
    func rescueExpired(except own: String?) async throws(StoreError) -> RescueReport

    /// Marks the beginning of a fetch.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid.
    func beginFetch(_ claim: Claim, of request: ThumbnailRequest) async throws(StoreError) -> BegunFetch
    /// Moves an upload's bytes into a blob, which is the job's source from now on. Returns the request with that source.
    func absorbUpload(_ job: ClaimedJob) async throws -> ThumbnailRequest
    /// Whether all these thumbnails exist, and their own bytes are sound: made as was `seen` again, or of whatever bytes.
    func have(_ thumbnails: [ThumbnailID], as seen: Revalidation?) async throws(StoreError) -> Bool
    /// Stores all thumbnails of a job and completes it: together, or not at all (invariant I2).
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    func complete(_ claim: Claim, with product: JobProduct, timings: AttemptTimings) async throws(StoreError)
    /// Ends an attempt without thumbnails. Returns whether the job waits again, if it is to, or yielded to one for the same.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    func settle(_ claim: Claim, as end: AttemptEnd, timings: AttemptTimings) async throws(StoreError) -> Settlement
}
