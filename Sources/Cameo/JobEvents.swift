internal import CameoStore
internal import Foundation

/// What becomes of a job: its status now, and again whenever its state or attempt is another; ends after a final state.
/// Should another job take its place, which was waiting for the same thumbnails, that one is told of from then on, by its
/// own ``Job/id``.
///
/// Nothing is buffered: who comes late sees the newest status, and states that passed meanwhile are left out. The
/// iteration throws a ``CameoError``, or `CancellationError` when its task is cancelled.
public struct JobEvents: AsyncSequence, Sendable {
    /// The job at the moment of a change.
    public typealias Element = Job

    let client: Client
    /// Nil: there is no job, so nothing becomes of it.
    let id: Int64?

    /// Each iteration begins with the status now.
    public func makeAsyncIterator() -> Iterator { Iterator(client: client, id: id) }

    /// Looks at the store when some process has committed.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let client: Client
        fileprivate let id: Int64?
        private var version: Int?
        private var last: Job?

        fileprivate init(client: Client, id: Int64?) {
            self.client = client
            self.id = id
        }

        /// The next change; nil after a final state.
        public mutating func next() async throws -> Job? {
            guard let id, last?.state.isFinal != true else { return nil }
            while true {
                try Task.checkCancellation()
                // Before the status: a commit between the two is seen again rather than missed.
                version = try await nextVersion()
                let status = try await client.statusInPlace(of: id)
                if status.id != last?.id || status.state != last?.state || status.attempt != last?.attempt {
                    last = status
                    return status
                }
            }
        }

        private func nextVersion() async throws -> Int {
            do {
                guard let version else { return try await client.changes.current() }
                return try await client.changes.next(after: version)
            } catch let error as StoreError {
                throw CameoError(error)
            }
        }
    }
}

extension Client {
    /// What becomes of an accepted request, from now until its job ends; nothing where none is needed.
    public func events(of job: EnqueueReceipt) -> JobEvents { JobEvents(client: self, id: job.id) }

    /// What becomes of a job, from now until it ends.
    public func events(of id: Int64) -> JobEvents { JobEvents(client: self, id: id) }

    fileprivate func statusInPlace(of id: Int64) async throws(CameoError) -> Job {
        try await asking { () throws(StoreError) in try await store.jobInPlace(of: id) }
    }

    /// Waits until a job has ended, in whatever final state. Should another job take its place, which was waiting for the
    /// same thumbnails, that one is waited for.
    ///
    /// - Parameters:
    ///   - id: the job's number.
    ///   - timeout: nil: as long as it takes.
    /// - Returns: its last status, or that of the job that took its place.
    /// - Throws: ``CameoError/timedOut(jobID:)``, ``CameoError/noSuchJob(_:)``, or `CancellationError` when the task
    ///   is cancelled; the job goes on.
    public func wait(for id: Int64, timeout: Duration? = nil) async throws -> Job {
        let events = events(of: id)
        return try await Self.within(timeout, else: .timedOut(jobID: id)) {
            for try await status in events where status.state.isFinal { return status }
            throw CancellationError()
        }
    }

    /// Waits until all jobs of a batch have ended, in whatever final states.
    ///
    /// - Parameters:
    ///   - name: the batch, as its requests name it.
    ///   - timeout: nil: as long as it takes.
    /// - Returns: how they ended.
    /// - Throws: ``CameoError/batchTimedOut(_:)``, ``CameoError/noSuchBatch(_:)``, or `CancellationError` when the task is
    ///   cancelled; the jobs go on.
    public func wait(forBatch name: String, timeout: Duration? = nil) async throws -> BatchReport {
        try await Self.within(timeout, else: .batchTimedOut(name)) { [self] in
            do {
                var version = try await changes.current()
                while true {
                    let batch = try await batch(name)
                    if batch.isFinished { return batch }
                    // A large batch is counted less often: the workers need the processor more.
                    if batch.total > 1_000 { try await Task.sleep(for: .milliseconds(250)) }
                    version = try await changes.next(after: version)
                }
            } catch let error as StoreError {
                throw CameoError(error)
            }
        }
    }

    private static func within<Value: Sendable>(
        _ timeout: Duration?,
        else error: CameoError,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await body() }
            if let timeout {
                group.addTask {
                    try await Task.sleep(for: timeout)
                    throw error
                }
            }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
