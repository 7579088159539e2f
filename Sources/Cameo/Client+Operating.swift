internal import CameoModel
internal import CameoStore

// What an operator does by `cameo-admin`, for programs that do it themselves.
extension Client {
    /// How far a batch is. Jobs that retention has removed are no longer counted.
    ///
    /// - Throws: ``CameoError/noSuchBatch(_:)``
    public func batch(_ name: String) async throws(CameoError) -> BatchStatus {
        BatchStatus(try await asking { () throws(StoreError) in try await store.batch(name) })
    }

    /// Makes a job that ended, or waits for its back-off, available at once, with all its attempts before it again.
    ///
    /// - Returns: the state that it was in; `available` and `running` jobs stay as they are.
    /// - Throws: ``CameoError/noSuchJob(_:)``
    @discardableResult
    public func retry(_ id: Int64) async throws(CameoError) -> JobState {
        JobState(try await asking { () throws(StoreError) in try await store.retry(id) })
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
