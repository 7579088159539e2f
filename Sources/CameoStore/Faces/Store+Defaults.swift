package import CameoModel
package import Foundation

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
