package import CameoModel
package import CameoStore
package import Foundation
internal import Testing

// Short forms of the calls of workers and operators.

extension ReaderStore {
    package func changes(since number: Int64, limit: Int) async throws(StoreError) -> [JobChange] {
        try await changes(since: FeedCursor(number), limit: limit).changes
    }

    package func lastChange() async throws(StoreError) -> Int64 {
        try await changes(since: nil, limit: 0).next.number
    }
}

extension ProducerStore {
    package func enqueue(
        _ request: ThumbnailRequest,
        data: Data,
        cacheKey: CacheKey? = nil
    ) async throws -> EnqueueReceipt {
        try await enqueue(request, data: data, cacheKey: cacheKey, once: nil)
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
}

extension WorkerStore {
    package func extendLease(of worker: String, adding counted: StoreCounters = StoreCounters())
        async throws(StoreError)
    {
        try await extendLease(of: worker, adding: counted, WorkerProgress())
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
        try await claim(ClaimRequest(limit: limit, background: limit, kind: kind, queues: queues, for: worker))
    }

    package func hasOverduePoisonJob(queues: [String]?) async throws(StoreError) -> Bool {
        try await hasOverduePoisonJob(queues: queues, background: .included)
    }

    package func unfinishedJobs(queues: [String]?) async throws(StoreError) -> Int {
        try await unfinishedJobs(queues: queues, background: .included)
    }

    package func complete(_ job: ClaimedJob) async throws {
        let product = try JobProduct.rendered(Fixture.rendered(job), Fixture.provenance())
        try await settle(job.claim, as: .complete(product), timings: AttemptTimings())
    }

    package func complete(_ claim: Claim, keeping thumbnails: [ThumbnailID] = [], seen: Revalidation? = nil)
        async throws
    {
        try await settle(claim, as: .complete(.kept(thumbnails, seen)), timings: AttemptTimings())
    }

    /// The job is retried at `retryAt`, or discarded if that is nil.
    @discardableResult
    package func fail(_ claim: Claim, with failure: JobFailure, retryAt: Date? = nil) async throws -> End? {
        let end = retryAt.map { AttemptEnd.retry(failure, at: $0) } ?? .discard(failure)
        return try await settle(claim, as: end, timings: AttemptTimings())
    }

    @discardableResult
    package func release(_ claim: Claim) async throws -> End? {
        try await settle(claim, as: .release, timings: AttemptTimings())
    }

    /// Discards claimed jobs concurrently, so that they share commits.
    package func discard(_ jobs: [ClaimedJob], _ failure: JobFailure) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for job in jobs { group.addTask { try await self.fail(job.claim, with: failure) } }
            try await group.waitForAll()
        }
    }
}

extension OperatorStore {
    package func limit(queue: String, toRate rate: StartRate?) async throws(StoreError) {
        try await limit(queue: queue, toRate: rate, unknown: .refused)
    }

    package func prune(
        _ retention: Retention,
        in turn: MaintenanceTurn,
        report: @escaping (Pruned) async -> Void = { _ in }
    ) async throws -> Pruned {
        try await prune(retention, in: turn, pause: .zero, report: report)
    }

    /// Cancels every waiting job.
    package func cancelAll() async throws {
        var waiting = JobFilter()
        (waiting.states, waiting.limit) = ([.available], .max)
        _ = try await change(waiting, by: .cancel)
    }

    /// The maintenance lock, as soon as it is free: other tests of this process start programs, and between fork and
    /// exec a child has a copy of the previous holder's lock.
    package func freeTurn() async throws -> MaintenanceTurn {
        try #require(try await maintenanceTurn(within: .seconds(300)))
    }
}
