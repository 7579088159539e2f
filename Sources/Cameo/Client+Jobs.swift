internal import CameoStore
public import Foundation

// Jobs: enqueued, followed, waited for and cancelled.
extension Client {
    /// Accepts either all requests, in the given order and durable on return, or none. Pass at most about a thousand at a
    /// time, since other writers wait meanwhile.
    ///
    /// - Throws: ``CameoError/invalidRequest(field:reason:)``, ``CameoError/storeFull(reason:)``
    public func enqueue(_ requests: [ThumbnailRequest]) async throws(CameoError) -> [EnqueueReceipt] {
        try await asking { try await store.enqueue(requests) }
    }

    /// Accepts one request, which is durable on return.
    public func enqueue(_ request: ThumbnailRequest) async throws(CameoError) -> EnqueueReceipt {
        try await enqueue([request])[0]
    }

    /// Accepts a picture's bytes and the renditions to make; like ``enqueue(_:data:cacheKey:)`` with a request that has no
    /// other options.
    public func enqueue(
        data: Data,
        renditions: [Rendition],
        cacheKey: String? = nil
    ) async throws(CameoError) -> EnqueueReceipt {
        try await enqueue(ThumbnailRequest(renditions: renditions), data: data, cacheKey: cacheKey)
    }

    /// Accepts a picture's bytes, 1 byte to 100 MiB, and a request whose source is set to the name of these bytes.
    ///
    /// - Parameters:
    ///   - request: the renditions and options.
    ///   - data: the picture.
    ///   - cacheKey: the program's own name for the picture, such as `user:42/avatar`: 1 to 2048 bytes without control
    ///     characters, but not a URI that a source may have. The thumbnails' URIs depend on it alone, and stay the same when
    ///     new bytes are enqueued under it; the newest bytes win. Nil: the name is the digest of the bytes, so the same
    ///     bytes with the same renditions have the same thumbnails.
    /// - Returns: the job and the names of its thumbnails.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)``, ``CameoError/storeFull(reason:)``
    public func enqueue(
        _ request: ThumbnailRequest,
        data: Data,
        cacheKey: String? = nil
    ) async throws(CameoError) -> EnqueueReceipt {
        try await asking {
            try await store.enqueue(request, data: data, cacheKey: cacheKey.map { try CacheKey($0) }, once: nil)
        }
    }

    /// Seals a batch, after all that was requested for it before: once none of its jobs is left, it has ended, which
    /// ``batch(_:)`` shows. Jobs that come later open it again, until it is sealed again.
    ///
    /// - Parameters:
    ///   - name: the batch.
    ///   - hook: the hook of the workers that is told of the end.
    /// - Throws: ``CameoError/invalidRequest(field:reason:)``
    public func seal(batch name: String, hook: String? = nil) async throws(CameoError) {
        try await asking { try await store.add(BatchSeal(batch: name, hook: hook)) }
    }

    /// The current status of a job.
    ///
    /// - Throws: ``CameoError/noSuchJob(_:)``
    public func status(of id: Int64) async throws(CameoError) -> Job {
        try await asking { try await store.job(id) }
    }

    /// The thumbnails of an accepted request, finished or not.
    public func thumbnails(for job: EnqueueReceipt) async throws(CameoError) -> [RequestedThumbnail] {
        guard let id = job.id else { return job.thumbnails }
        return try await status(of: id).thumbnails
    }

    /// The thumbnails of a job, finished or not.
    ///
    /// - Throws: ``CameoError/noSuchJob(_:)``
    public func thumbnails(for id: Int64) async throws(CameoError) -> [RequestedThumbnail] {
        try await status(of: id).thumbnails
    }

    /// Cancels a job, none of whose thumbnails appears afterwards. A job that has ended is not changed.
    ///
    /// - Returns: the state before the call.
    /// - Throws: ``CameoError/noSuchJob(_:)``
    @discardableResult
    public func cancel(_ id: Int64) async throws(CameoError) -> JobState {
        try await asking { try await store.cancel(id) }
    }

    /// Removes a source from the cache, for all credentials: what workers and sessions have loaded from the URL, or the bytes
    /// that were enqueued under the key. A job that still needs the source fetches it again, or fails. The client's memory is
    /// emptied.
    ///
    /// - Parameters:
    ///   - source: the requested URL, or a cache key.
    ///   - extent: whether its thumbnails are removed too.
    /// - Returns: what was removed. An unknown source is not an error.
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    @discardableResult
    public func forget(
        _ source: String,
        _ extent: ForgottenExtent = .originals
    ) async throws(CameoError) -> ForgottenSource {
        defer { memory.empty() }
        return try await asking { try await store.forgetSource(source, extent) }
    }

    /// Removes thumbnails. From then on their URIs and bytes are found by nobody, jobs that were to make them are cancelled, and an
    /// original goes with the last thumbnail that was made from it. A request that comes later makes them again. The client's
    /// memory is emptied.
    ///
    /// An application that deletes rows of its own in the same database inserts the selector's JSON in the same transaction:
    /// `INSERT INTO forget(selector) VALUES ('{"label":"user:42"}')`.
    ///
    /// - Parameters:
    ///   - selector: which thumbnails.
    ///   - atOnce: whether bytes that nothing names any more leave the disk or bucket at once, if they are older than a minute,
    ///     and not when a worker next cleans up.
    /// - Returns: what was removed. Selecting nothing is not an error.
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    @discardableResult
    public func forget(_ selector: ForgetSelector, atOnce: Bool = false) async throws(CameoError) -> ForgetReceipt {
        defer { memory.empty() }
        return try await asking { try await store.forget(selector, atOnce: atOnce) }
    }
}

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
        fileprivate var version: Int?
        fileprivate var last: Job?

        /// The next change; nil after a final state.
        public mutating func next() async throws -> Job? {
            guard let id, last?.state.isFinal != true else { return nil }
            while true {
                try Task.checkCancellation()
                // Read before the status, so that a commit in between is seen twice rather than missed.
                version = try await client.version(after: version)
                let status = try await client.asking { [client] in try await client.store.jobInPlace(of: id) }
                if status.id != last?.id || status.state != last?.state || status.attempt != last?.attempt
                    || status.attempts?.last?.transfer != last?.attempts?.last?.transfer
                {
                    last = status
                    return status
                }
            }
        }
    }
}

/// Every change of the state of any job of a store, in commit order, each once. The sequence waits for further changes, and
/// never ends by itself.
///
/// A program that remembers ``JobChange/cursor`` continues after it the next time. Cursors have no gaps, so one that is
/// higher by more than 1 than the last means that the store no longer kept the changes between, and one that is not higher
/// that the store was restored from a backup. The iteration throws a ``CameoError``, or `CancellationError` if its task is cancelled.
public struct StoreEvents: AsyncSequence, Sendable {
    /// A change of a job's state.
    public typealias Element = JobChange

    let client: Client
    let cursor: FeedCursor

    /// Makes an iterator, which begins with the first change after the cursor.
    public func makeAsyncIterator() -> Iterator { Iterator(client: client, cursor: cursor) }

    /// Reads further changes whenever a process has committed.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let client: Client
        fileprivate var cursor: FeedCursor
        fileprivate var page: ArraySlice<JobChange> = []

        /// The next change; never nil.
        public mutating func next() async throws -> JobChange? {
            while page.isEmpty {
                // Read before the changes, so that a commit in between is seen twice rather than missed.
                let version = try await client.version()
                let next = try await client.asking { [client, cursor] in
                    try await client.store.changes(since: cursor, limit: 1_000)
                }
                (page, cursor) = (next.changes[...], next.next)
                if page.isEmpty { _ = try await client.version(after: version) }
            }
            try Task.checkCancellation()
            return page.removeFirst()
        }
    }
}

extension Client {
    /// The events of all jobs.
    ///
    /// - Parameter cursor: the last change that was seen, 0 for all that are kept; nil for those after the call.
    /// - Returns: the changes after the cursor, and all later ones.
    /// - Throws: ``CameoError/storeUnavailable(reason:)``
    public func events(since cursor: Int64? = nil) async throws(CameoError) -> StoreEvents {
        let seen = cursor.map { FeedCursor($0) }
        let start = try await asking { try await store.changes(since: seen, limit: 0).next }
        return StoreEvents(client: self, cursor: start)
    }

    /// The events of an accepted request until its job ends; none if it needed no job.
    public func events(of job: EnqueueReceipt) -> JobEvents { JobEvents(client: self, id: job.id) }

    /// The events of a job until it ends.
    public func events(of id: Int64) -> JobEvents { JobEvents(client: self, id: id) }

    /// The store's version, once it is another one than that given.
    fileprivate func version(after version: Int? = nil) async throws -> Int {
        do {
            guard let version else { return try await changes.current() }
            return try await changes.next(after: version)
        } catch let error as StoreError {
            throw CameoError(error)
        }
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

    /// Waits until the job of an accepted request has reached any final state, as ``wait(for:timeout:)-(Int64,_)`` does.
    ///
    /// - Returns: the job's final status; nil if the request needed no job.
    public func wait(for job: EnqueueReceipt, timeout: Duration? = nil) async throws -> Job? {
        guard let id = job.id else { return nil }
        return try await wait(for: id, timeout: timeout)
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
            var seen = try await version()
            while true {
                let batch = try await batch(name)
                if batch.isFinished { return batch }
                // Counting a large batch is expensive, and the workers need the processor more.
                if batch.total > 1_000 { try await Task.sleep(for: .milliseconds(250)) }
                seen = try await version(after: seen)
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
