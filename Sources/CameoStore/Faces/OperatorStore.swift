package import CameoModel
package import Foundation

/// For operators, and for the upkeep that workers do in their name.
package protocol OperatorStore: AnyStore {
    /// Calls a job off. A running one loses its claim: its worker stops it, and nothing of it appears. Returns the state
    /// that the job was in; a job that had ended stays as it is.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    func cancel(_ id: Int64) async throws(StoreError) -> JobState
    /// Makes a job that ended, or waits for its back-off, available at once, with all its attempts before it again. Its
    /// history stays.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    func retry(_ id: Int64) async throws(StoreError) -> RetriedJob
    /// Lets a waiting job wait until a later time, whatever it waited for. One that runs or has ended stays as it is.
    ///
    /// - Throws: ``StoreError/noSuchJob(_:)``
    func snooze(_ id: Int64, until time: Date) async throws(StoreError) -> JobState
    /// Changes the jobs that a filter meets, the oldest first, at most its limit, in small transactions. After each of
    /// them `report` is told; what it throws ends the change, and what was done stays.
    func change(_ filter: JobFilter, by change: BulkChange, report: (BulkProgress) throws -> Void) async throws
        -> BulkProgress
    /// Keeps a queue's waiting jobs from the workers from the next claim on; what runs goes on. False if it was paused.
    func pause(_ queue: String, unknown: UnknownQueue) async throws(StoreError) -> Bool
    /// Lets a queue's jobs be claimed again; idle workers see it at once. False if it was not paused.
    func resume(_ queue: String) async throws(StoreError) -> Bool
    /// Lets at most so many jobs of a queue run at once, over all workers; nil: as many as there is room for.
    func limit(queue: String, to count: Int?, unknown: UnknownQueue) async throws(StoreError)
    /// Lets so many jobs of a queue start within a time, over all workers; nil: as many as there is room for.
    func limit(queue: String, toRate rate: StartRate?, unknown: UnknownQueue) async throws(StoreError)
    /// Sets how many jobs of a concurrency key may run at once, whatever requests say; nil: requests decide again. False
    /// if there was no operator's limit to take away.
    @discardableResult
    func limit(key: String, to count: Int?) async throws(StoreError) -> Bool
    /// Lets so many jobs of a concurrency key start within a time, over all queues and workers.
    func limit(key: String, toRate rate: StartRate?) async throws(StoreError)
    /// Asks a worker to end; it looks several times a second, and can claim nothing more from now on.
    ///
    /// - Throws: ``StoreError/noSuch(_:_:)``
    func stopWorker(_ id: String, _ stop: WorkerStop) async throws(StoreError) -> StatusReport.Worker
    /// The right to prune; nil if another process has it.
    func maintenanceTurn() throws(StoreError) -> MaintenanceTurn?
    /// Removes what a retention no longer keeps, and what nothing names any more, in small transactions.
    func prune(
        _ retention: Retention,
        in turn: MaintenanceTurn,
        pause: Duration,
        report: @escaping (Pruned) async -> Void
    ) async throws -> Pruned
    /// What ``prune(_:in:pause:report:)`` would remove now.
    func prunable(_ retention: Retention) async throws(StoreError) -> Pruned
}

extension OperatorStore {
    /// Waits until the turn is free; nil when it is not within `patience`.
    package func maintenanceTurn(within patience: Duration) async throws -> MaintenanceTurn? {
        let started = ContinuousClock.now
        while true {
            if let turn = try maintenanceTurn() { return turn }
            guard started.duration(to: .now) < patience else { return nil }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
