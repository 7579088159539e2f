internal import CameoStore
public import Foundation

// Operations of `cameo-admin`, for programs.
extension Client {
    /// The progress of a batch. Jobs that retention has removed are no longer counted.
    ///
    /// - Throws: ``CameoError/noSuchBatch(_:)``
    public func batch(_ name: String) async throws(CameoError) -> BatchReport {
        try await asking { try await store.batch(name) }
    }

    /// Makes a job that has ended or waits for its back-off available at once, with a full number of attempts.
    ///
    /// - Returns: the state before the call. `available` and `running` jobs are not changed. A job is `cancelled` if another
    ///   job already waits to make the same thumbnails.
    /// - Throws: ``CameoError/noSuchJob(_:)``
    @discardableResult
    public func retry(_ id: Int64) async throws(CameoError) -> JobState {
        try await asking { try await store.retry(id).before }
    }

    /// Postpones a waiting job until a later time, whatever it waited for.
    ///
    /// - Returns: the state before the call. A job that is running or has ended is not changed.
    /// - Throws: ``CameoError/noSuchJob(_:)``
    @discardableResult
    public func snooze(_ id: Int64, until time: Date) async throws(CameoError) -> JobState {
        try await asking { try await store.snooze(id, until: time) }
    }

    /// Limits the number of concurrently running jobs of a queue over all workers; nil removes the limit. The queue need
    /// not exist yet.
    public func limit(queue: String, to count: Int?) async throws(CameoError) {
        try Self.check(queue: queue)
        try Self.check(limit: count)
        try await asking { try await store.limit(queue: queue, to: count, unknown: .created) }
    }

    /// Limits the rate at which jobs of a queue start over all workers; nil removes the limit. The queue need not exist yet.
    public func limit(queue: String, toRate rate: StartRate?) async throws(CameoError) {
        try Self.check(queue: queue)
        try await asking { try await store.limit(queue: queue, toRate: rate, unknown: .created) }
    }

    /// Makes a queue a background queue or an ordinary one. Jobs of background queues are claimed only when no others wait.
    /// The queue need not exist yet.
    public func setBackground(_ isBackground: Bool, queue: String) async throws(CameoError) {
        try Self.check(queue: queue)
        try await asking { try await store.setBackground(isBackground, queue: queue, unknown: .created) }
    }

    /// Makes a queue fair between tenants, or ordered by age and priority alone. A fair one takes its next job from the tenant
    /// (``ThumbnailRequest/tenant``) that has had least time of processors, by weight. The queue need not exist yet.
    public func setFair(_ isFair: Bool, queue: String) async throws(CameoError) {
        try Self.check(queue: queue)
        try await asking { try await store.setFair(isFair, queue: queue, unknown: .created) }
    }

    /// Sets how much a tenant gets in fair queues, beside one of weight 1: 0.01 to 100.
    public func setWeight(_ weight: Double, ofTenant tenant: String) async throws(CameoError) {
        try Self.check(tenant, of: "tenant")
        guard StatusReport.Tenant.weights.contains(weight) else {
            throw .invalidRequest(field: "weight", reason: "must be between 0.01 and 100, not \(weight)")
        }
        try await asking { try await store.setWeight(weight, ofTenant: tenant) }
    }

    /// Limits the number of concurrently running jobs of a concurrency key, overriding the limits in requests; nil restores
    /// those.
    public func limit(concurrencyKey key: String, to count: Int?) async throws(CameoError) {
        try Self.check(key, of: "concurrencyKey")
        try Self.check(limit: count)
        _ = try await asking { try await store.limit(key: key, to: count) }
    }

    /// Limits the rate at which jobs of a concurrency key start over all queues and workers; nil removes the limit.
    public func limit(concurrencyKey key: String, toRate rate: StartRate?) async throws(CameoError) {
        try Self.check(key, of: "concurrencyKey")
        try await asking { try await store.limit(key: key, toRate: rate) }
    }

    /// A report on queues, workers and stored data.
    ///
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    public func status() async throws(CameoError) -> StatusReport {
        try await asking { try await store.status() }
    }

    /// Stops a worker: within a second, it claims no more jobs. A later ``WorkerStop/drain`` does not override
    /// ``WorkerStop/now``.
    ///
    /// - Returns: the worker. One that is no longer alive ignores the call; its jobs are rescued anyway.
    /// - Throws: ``CameoError/noSuchWorker(_:)``
    @discardableResult
    public func stopWorker(
        _ id: String,
        _ stop: WorkerStop = .drain
    ) async throws(CameoError) -> StatusReport.Worker {
        try await asking { try await store.stopWorker(id, stop) }
    }

    /// Makes a consistent copy of the store while workers and producers continue. The copy is an independent store; it
    /// appears under its name after all of it is on disk.
    ///
    /// - Parameter path: a folder that does not exist or is empty.
    /// - Returns: what the copy contains, and what it lacks because the store lacks it.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for an unsuitable folder; ``CameoError/storeFull(reason:)``;
    ///   ``CameoError/storeUnavailable(reason:)``, also if another process prunes or copies the store for too long, or if
    ///   the client is read-only; `CancellationError` if the task is cancelled before the copying begins.
    @concurrent
    public func backUp(to path: String) async throws -> BackupReport {
        do {
            let report = try await store.maintaining(within: MaintenanceTurn.patience) { turn in
                try await store.backUp(to: path, in: turn) { _ in }
            }
            if let report { return report }
            throw CameoError.storeUnavailable(reason: "another process prunes or copies the store; try again")
        } catch let error where error is CameoError || error is CancellationError {
            throw error
        } catch {
            throw CameoError(erased: error)
        }
    }

    /// Checks the database, every blob and this machine's set-up for damage. It reads everything, and never blocks writers.
    ///
    /// - Returns: all findings, including the parts that are sound.
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    @concurrent
    public func check() async throws(CameoError) -> [CheckFinding] {
        try await asking { try await store.check(report: { _ in }) }
    }

    private static func check(queue: String) throws(CameoError) {
        guard ThumbnailRequest.isLabel(queue) else {
            throw .invalidRequest(field: "queue", reason: "must be 1 to 64 of a-z 0-9 . _ -, not \"\(queue)\"")
        }
    }

    private static func check(_ name: String, of field: String) throws(CameoError) {
        guard ThumbnailRequest.isName(name) else {
            let reason = "must be 1 to 200 characters without control characters"
            throw .invalidRequest(field: field, reason: reason)
        }
    }

    private static func check(limit: Int?) throws(CameoError) {
        guard let limit, limit < 1 else { return }
        throw .invalidRequest(field: "limit", reason: "must be at least 1, not \(limit); to stop a queue, pause it")
    }

    /// Pauses a queue: workers claim no more jobs from it. Running jobs continue.
    ///
    /// - Throws: ``CameoError/noSuchQueue(_:)`` for a queue that does not exist.
    public func pause(queue: String) async throws(CameoError) {
        _ = try await asking { try await store.pause(queue, unknown: .refused) }
    }

    /// Resumes a paused queue.
    ///
    /// - Throws: ``CameoError/noSuchQueue(_:)`` for a queue that does not exist.
    public func resume(queue: String) async throws(CameoError) {
        _ = try await asking { try await store.resume(queue) }
    }
}
