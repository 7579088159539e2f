internal import CameoSQLite
internal import CameoStore
public import Foundation

// What an operator does by `cameo-admin`, for programs that do it themselves.
extension Client {
    /// How far a batch is. Jobs that retention has removed are no longer counted.
    ///
    /// - Throws: ``CameoError/noSuchBatch(_:)``
    public func batch(_ name: String) async throws(CameoError) -> BatchReport {
        try await asking { () throws(StoreError) in try await store.batch(name) }
    }

    /// Makes a job that ended, or waits for its back-off, available at once, with all its attempts before it again.
    ///
    /// - Returns: the state that it was in; `available` and `running` jobs stay as they are. A job for whose thumbnails
    ///   another waits already is `cancelled`.
    /// - Throws: ``CameoError/noSuchJob(_:)``
    @discardableResult
    public func retry(_ id: Int64) async throws(CameoError) -> JobState {
        try await asking { () throws(StoreError) in try await store.retry(id).before }
    }

    /// Lets a waiting job wait until a later time, whatever it waited for.
    ///
    /// - Returns: the state that it was in; one that runs or has ended stays as it is.
    /// - Throws: ``CameoError/noSuchJob(_:)``
    @discardableResult
    public func snooze(_ id: Int64, until time: Date) async throws(CameoError) -> JobState {
        try await asking { () throws(StoreError) in try await store.snooze(id, until: time) }
    }

    /// Sets how many jobs of a queue may run at once over all workers; nil: as many as there is room for. The queue need
    /// not have had a job yet.
    public func limit(queue: String, to count: Int?) async throws(CameoError) {
        try Self.check(queue: queue)
        try Self.check(limit: count)
        try await asking { () throws(StoreError) in try await store.limit(queue: queue, to: count, unknown: .created) }
    }

    /// Sets how many jobs of a queue may start within a time over all workers; nil: as many as there is room for. The queue
    /// need not have had a job yet.
    public func limit(queue: String, toRate rate: StartRate?) async throws(CameoError) {
        try Self.check(queue: queue)
        try await asking { () throws(StoreError) in
            try await store.limit(queue: queue, toRate: rate, unknown: .created)
        }
    }

    /// Sets how many jobs of a concurrency key may run at once, whatever requests say; nil: requests decide again.
    public func limit(concurrencyKey key: String, to count: Int?) async throws(CameoError) {
        try Self.check(concurrencyKey: key)
        try Self.check(limit: count)
        _ = try await asking { () throws(StoreError) in try await store.limit(key: key, to: count) }
    }

    /// Sets how many jobs of a concurrency key may start within a time over all queues and workers; nil: as many as there is
    /// room for.
    public func limit(concurrencyKey key: String, toRate rate: StartRate?) async throws(CameoError) {
        try Self.check(concurrencyKey: key)
        try await asking { () throws(StoreError) in try await store.limit(key: key, toRate: rate) }
    }

    /// The queues, the workers, and how much there is.
    ///
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    public func status() async throws(CameoError) -> StatusReport {
        try await asking { () throws(StoreError) in try await store.status() }
    }

    /// Ends a worker from outside: it claims nothing more, and sees that within a second. Who asked for
    /// ``WorkerStop/now`` is not overruled by a later ``WorkerStop/drain``.
    ///
    /// - Returns: the worker that was asked; one that is not alive hears nothing, and its jobs are taken back anyway.
    /// - Throws: ``CameoError/noSuchWorker(_:)``
    @discardableResult
    public func stopWorker(
        _ id: String,
        _ stop: WorkerStop = .drain
    ) async throws(CameoError) -> StatusReport.Worker {
        try await asking { () throws(StoreError) in try await store.stopWorker(id, stop) }
    }

    /// Copies the store, as it is at this moment, while workers and producers go on. The copy is a store of its own, with
    /// no link into this one; it appears under its name when all of it is on the disk.
    ///
    /// - Parameter path: a folder that is not there yet, or is empty.
    /// - Returns: what the copy holds, and what it lacks because the store lacks it.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)`` for a folder where no copy can be,
    ///   ``CameoError/storeFull(reason:)``, ``CameoError/storeUnavailable(reason:)``, also while another process prunes
    ///   or copies the store for long and for a client that only reads, or `CancellationError` when the task is cancelled
    ///   before the copying begins.
    @concurrent
    public func backUp(to path: String) async throws -> BackupReport {
        do {
            guard let turn = try await store.maintenanceTurn(within: MaintenanceTurn.patience) else {
                throw CameoError.storeUnavailable(reason: "another process prunes or copies the store; try again")
            }
            return try await embedded().backUp(to: path, in: turn)
        } catch let error where error is CameoError || error is CancellationError {
            throw error
        } catch {
            throw CameoError(erased: error)
        }
    }

    /// Looks for damage: at the database, at every blob, and at what this machine lacks. Reads everything; nobody's writes
    /// wait for it.
    ///
    /// - Returns: what was looked at, the sound parts too.
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    @concurrent
    public func check() async throws(CameoError) -> [CheckFinding] {
        let embedded = try embedded()
        return try await asking { () throws(StoreError) in try await embedded.check() }
    }

    private static func check(queue: String) throws(CameoError) {
        guard ThumbnailRequest.isLabel(queue) else {
            throw .invalidRequest(field: "queue", reason: "must be 1 to 64 of a-z 0-9 . _ -, not \"\(queue)\"")
        }
    }

    private static func check(concurrencyKey key: String) throws(CameoError) {
        guard ThumbnailRequest.isName(key) else {
            let reason = "must be 1 to 200 characters without control characters"
            throw .invalidRequest(field: "concurrencyKey", reason: reason)
        }
    }

    private static func check(limit: Int?) throws(CameoError) {
        guard let limit, limit < 1 else { return }
        throw .invalidRequest(field: "limit", reason: "must be at least 1, not \(limit); to let nothing run, pause")
    }

    /// Keeps a queue's waiting jobs from the workers from the next claim on; what runs goes on.
    ///
    /// - Throws: ``CameoError/noSuchQueue(_:)`` for a name that no job has had.
    public func pause(queue: String) async throws(CameoError) {
        _ = try await asking { () throws(StoreError) in try await store.pause(queue) }
    }

    /// Lets the workers have a paused queue's jobs again.
    ///
    /// - Throws: ``CameoError/noSuchQueue(_:)`` for a name that no job has had.
    public func resume(queue: String) async throws(CameoError) {
        _ = try await asking { () throws(StoreError) in try await store.resume(queue) }
    }
}
