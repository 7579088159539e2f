internal import CameoStore
internal import Foundation

/// The status of a job, now and after every change of its state, attempt or transfer, until a final state. If another job
/// that waits for the same thumbnails replaces it, the sequence continues with that job, which has its own ``Job/id``.
///
/// Nothing is buffered: a slow consumer gets the newest status and misses intermediate ones. The iteration throws a
/// ``CameoError``, or `CancellationError` if its task is cancelled.
public struct JobEvents: AsyncSequence, Sendable {
    /// The job at the time of a change.
    public typealias Element = Job

    let client: Client
    /// The job's number; nil if the request needed no job.
    let id: Int64?

    /// Makes an iterator, which begins with the current status.
    public func makeAsyncIterator() -> Iterator { Iterator(client: client, id: id) }

    /// Reads the job's status whenever a process has committed.
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
                // Read before the status, so that a commit in between is seen twice rather than missed.
                version = try await nextVersion()
                let status = try await client.statusInPlace(of: id)
                if status.id != last?.id || status.state != last?.state || status.attempt != last?.attempt
                    || status.attempts?.last?.transfer != last?.attempts?.last?.transfer
                {
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
    /// The events of an accepted request until its job ends; none if it needed no job.
    public func events(of job: EnqueueReceipt) -> JobEvents { JobEvents(client: self, id: job.id) }

    /// The events of a job until it ends.
    public func events(of id: Int64) -> JobEvents { JobEvents(client: self, id: id) }

    fileprivate func statusInPlace(of id: Int64) async throws(CameoError) -> Job {
        try await asking { () throws(StoreError) in try await store.jobInPlace(of: id) }
    }

    /// Waits until a job has reached any final state. If another job that waits for the same thumbnails replaces it, the call
    /// waits for that one.
    ///
    /// - Parameters:
    ///   - id: the job's number.
    ///   - timeout: the maximum wait; nil for no limit.
    /// - Returns: its final status, or that of the job that replaced it.
    /// - Throws: ``CameoError/timedOut(jobID:)``, ``CameoError/noSuchJob(_:)``, or `CancellationError` if the task is
    ///   cancelled. The job continues.
    public func wait(for id: Int64, timeout: Duration? = nil) async throws -> Job {
        let events = events(of: id)
        return try await Self.within(timeout, else: .timedOut(jobID: id)) {
            for try await status in events where status.state.isFinal { return status }
            throw CancellationError()
        }
    }

    /// Waits until all jobs of a batch have reached any final state.
    ///
    /// - Parameters:
    ///   - name: the batch, as its requests name it.
    ///   - timeout: the maximum wait; nil for no limit.
    /// - Returns: the final counts.
    /// - Throws: ``CameoError/batchTimedOut(_:)``, ``CameoError/noSuchBatch(_:)``, or `CancellationError` if the task is
    ///   cancelled. The jobs continue.
    public func wait(forBatch name: String, timeout: Duration? = nil) async throws -> BatchReport {
        try await Self.within(timeout, else: .batchTimedOut(name)) { [self] in
            do {
                var version = try await changes.current()
                while true {
                    let batch = try await batch(name)
                    if batch.isFinished { return batch }
                    // Counting a large batch is expensive, and the workers need the processor more.
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
