package import CameoModel
package import Foundation

// DESIGN. A store has eight kinds of user, and each has its own small protocol of value types. An engine implements these
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
    /// A number that changes whenever any process commits. Reading it takes microseconds.
    func version() async throws(StoreError) -> Int
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

// The calls with their usual arguments.

extension ProducerStore {
    /// - Throws: `InvalidRequest` for the first invalid request, before any is accepted; otherwise ``StoreError``.
    package func enqueue(_ requests: [ThumbnailRequest]) async throws -> [EnqueueReceipt] {
        try await enqueue(CheckedRequest.all(requests))
    }

    package func enqueue(
        _ request: ThumbnailRequest,
        data: Data,
        cacheKey: CacheKey? = nil
    ) async throws -> EnqueueReceipt {
        try await enqueue(request, data: data, cacheKey: cacheKey, once: nil)
    }
}

extension WorkerStore {
    package func extendLease(of worker: String) async throws(StoreError) {
        try await extendLease(of: worker, adding: StoreCounters())
    }

    package func extendLease(of worker: String, adding counted: StoreCounters) async throws(StoreError) {
        try await extendLease(of: worker, adding: counted, transfers: [])
    }

    package func deregister(_ worker: String) async throws(StoreError) {
        try await deregister(worker, adding: StoreCounters())
    }

    package func claim(
        limit: Int,
        kind: ClaimKind = .usual,
        queues: [String]? = nil,
        for worker: String
    ) async throws(StoreError) -> [ClaimedJob] {
        try await claim(limit: limit, background: limit, kind: kind, queues: queues, for: worker)
    }

    package func hasOverduePoisonJob(queues: [String]?) async throws(StoreError) -> Bool {
        try await hasOverduePoisonJob(queues: queues, background: .included)
    }

    package func unfinishedJobs(queues: [String]?) async throws(StoreError) -> Int {
        try await unfinishedJobs(queues: queues, background: .included)
    }
}

extension OperatorStore {
    package func change(_ filter: JobFilter, by change: BulkChange) async throws -> BulkProgress {
        try await self.change(filter, by: change, report: { _ in })
    }

    package func pause(_ queue: String) async throws(StoreError) -> Bool {
        try await pause(queue, unknown: .refused)
    }

    package func limit(queue: String, to count: Int?) async throws(StoreError) {
        try await limit(queue: queue, to: count, unknown: .refused)
    }

    package func prune(_ retention: Retention, in turn: MaintenanceTurn) async throws -> Pruned {
        try await prune(retention, in: turn, pause: .zero, report: { _ in })
    }
}

/// Numbers over the whole life of a store, for monitoring.
package protocol MetricsStore: AnyStore {
    /// The counters and sizes now. The cost does not depend on the number of jobs.
    func metrics() async throws(StoreError) -> StoreMetrics
}

/// A comparison of the store's rows with one another and with its bytes, for operators.
package protocol CheckedStore: AnyStore {
    /// Checks the store's consistency. Reads every blob.
    ///
    /// - Parameter report: called with progress, from any thread, while blobs are read.
    /// - Returns: all findings, including those without problems.
    /// - Throws: ``StoreError``
    func check(report: @Sendable (ByteProgress) -> Void) async throws(StoreError) -> [CheckFinding]
    /// Fixes what the rows and bytes themselves prove to be wrong.
    ///
    /// - Parameters:
    ///   - turn: prevents copying and pruning meanwhile.
    ///   - report: called with progress, from any thread, while blobs are read.
    /// - Returns: what was fixed; empty if nothing was.
    /// - Throws: ``StoreError``
    func repair(
        in turn: MaintenanceTurn,
        report: @Sendable (ByteProgress) -> Void
    ) async throws(StoreError) -> [CheckFinding]
}

/// Operations for the delivery of jobs' ends to hooks. The delivery itself is entered by whatever ends the job, in the
/// same transaction.
package protocol HookStore: AnyStore {
    /// Records the hooks that a worker can deliver to, in place of those recorded before.
    func note(hooks: [String], of worker: String) async throws(StoreError)
    /// Claims deliveries that are due, oldest first: for each hook up to a number. A claim is released if the worker
    /// dies, or is silent beyond its lease (invariant I7).
    func claimDeliveries(_ room: [String: Int], for worker: String) async throws(StoreError) -> [ClaimedDelivery]
    /// The message to deliver.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)`` if the job was removed meanwhile.
    func message(of delivery: ClaimedDelivery) async throws(StoreError) -> HookDelivery
    /// Ends a try.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    func settle(_ delivery: ClaimedDelivery, as end: DeliveryEnd) async throws(StoreError)
    /// The hooks that a delivery, a queue or a worker names, sorted by name, each with up to `failures` of its latest
    /// failures.
    func hooks(failures: Int) async throws(StoreError) -> [HookReport]
    /// Makes deliveries that were given up wait again, and those that wait due at once; their age counts from now.
    /// Returns their number.
    func retryDeliveries(_ choice: DeliveryChoice) async throws(StoreError) -> Int
    /// Sets the hook that is told of the end of each job that the queue accepts from now on; nil for none.
    func setHook(_ hook: String?, ofQueue queue: String, unknown: UnknownQueue) async throws(StoreError)
}
