package import CameoModel
package import CameoStore
internal import Foundation
internal import Synchronization

/// An accepted request with the task that it becomes.
package struct NewTask: Sendable {
    package let new: NewJob
    package let task: TaskRow
}

/// A job that another program inserted and that was not accepted yet, with its parsed request.
package struct Arrival: Sendable {
    /// The limits of a page: rows, and the bytes of requests after which it ends.
    package static let page = (rows: 500, bytes: 2 * 1_048_576)
    /// The maximum number of rows that a claim accepts beside jobs that can be claimed.
    package static let rowsBesideWork = 50
    /// How often a claim that finds nothing accepts more: its worker may have been asked to end.
    package static let pagesPerClaim = 16

    package let id: Int64
    package let createdAt: Int64
    package let reading: Result<NewJob, InvalidRequest>

    package init(id: Int64, createdAt: Int64, request: some Sequence<UInt8>) {
        (self.id, self.createdAt) = (id, createdAt)
        reading = Result { () throws(InvalidRequest) in try NewJob(ThumbnailRequest(parsing: request)) }
    }
}

/// What a process has accepted of the jobs that other programs inserted.
///
/// However many there are, those who accept some of them beside other work take a tenth of the time together: after a page
/// of many they rest 29 times as long as it took, because its commit and the log's checkpoint take twice as much again.
package final class Acceptances: Sendable {
    private let state = Mutex((refused: [LostJob](), restsUntil: ContinuousClock.now, looksAt: ContinuousClock.now))

    package init() {}

    package var isResting: Bool { rest > .zero }
    package var rest: Duration { ContinuousClock.now.duration(to: state.withLock { $0.restsUntil }) }

    package func rest(for duration: Duration) {
        state.withLock { $0.restsUntil = .now + duration }
    }

    /// Accepts a page of so many jobs, whose reading took a time.
    package func measuring<Value>(
        _ count: Int,
        read: Duration = .zero,
        _ accepting: () throws -> Value
    ) rethrows -> Value {
        let started = ContinuousClock.now - read
        defer { if count >= Arrival.rowsBesideWork { rest(for: started.duration(to: .now) * 29) } }
        return try accepting()
    }

    /// Whether it is a minute since somebody asked.
    package func isLookDue() -> Bool {
        state.withLock { state in
            guard state.looksAt <= .now else { return false }
            state.looksAt = .now + .seconds(60)
            return true
        }
    }

    package func note(_ refused: [LostJob]) {
        state.withLock { $0.refused += refused }
    }

    /// The jobs that this process has refused since the last call.
    func takeRefused() -> [LostJob] {
        state.withLock { state in
            defer { state.refused = [] }
            return state.refused
        }
    }
}

// How requests become jobs.
extension QueueTransaction {
    /// The task that an accepted request becomes.
    ///
    /// - Throws: `InvalidRequest` for an upload that does not exist.
    package func newTask(_ new: NewJob, as id: Int64, createdAt: Int64) throws -> NewTask {
        var new = new
        if let upload = new.upload {
            guard let own = try row("SELECT cachekey FROM upload WHERE id = ?1 AND job_id = ?2", [upload, id]) else {
                throw InvalidRequest(path: "source", reason: "only an upload may have an upload: source")
            }
            if let name: String = try own["cachekey"] {
                new = try NewJob(new.request, of: upload, under: CacheKey(name))
            }
        }
        let request = new.request
        let queue = try queue(request.queue)
        let key = try request.concurrencyKey.map { try self.key($0, limit: request.concurrencyLimit) } ?? 0
        let tenant = try tenant(of: request)
        // A producer may say when it made the request, and must not take a place that comes later. Any number may be there.
        let createdAt = min(max(0, createdAt), now)
        let due = max(createdAt, request.runAt?.milliseconds ?? createdAt)
        let task = TaskRow(
            id: id,
            queue: queue,
            key: key,
            lane: try lane(Ledger.Place(queue: queue, key: key, tenant: tenant)),
            tenant: tenant,
            state: due > createdAt ? .scheduled : .available,
            priority: request.priority,
            due: due,
            maxAttempts: request.maxAttempts,
            refresh: request.refresh,
            uniqueKey: new.key?.text,
            upload: new.upload,
            isHooked: request.hook != nil || isHooked(queue: queue),
            sourceTail: new.upload == nil ? TaskRow.tail(of: request.source) : ""
        )
        return NewTask(new: new, task: task)
    }

    /// Records that a job needs a blob or thumbnail.
    package func need(_ ingredient: String, for job: Int64) throws {
        try execute("INSERT INTO ingredient(name, job_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING", [ingredient, job])
    }

    /// Merges a request into the job that waits for the same thumbnails.
    package func join(_ new: CheckedRequest, _ duplicate: TaskRow) throws -> TaskRow {
        let request = new.job.request
        let due = max(now, request.runAt?.milliseconds ?? now)
        var asked = TaskRow(id: duplicate.id, queue: duplicate.queue, due: due, isHooked: request.hook != nil)
        (asked.priority, asked.refresh) = (request.priority, request.refresh)
        let joined = try join(duplicate, asked, batches: request.batch.map { [$0] } ?? [])
        if let hook = request.hook { try note(hook: hook, for: joined.id) }
        let wanted = try request.uniqueKey == nil ? new.job.wanted : wanted(of: joined.id)
        try label([(request, wanted.map(\.id))])
        return joined
    }

    package func receipt(
        _ outcome: EnqueueReceipt.Outcome,
        _ new: CheckedRequest,
        _ task: TaskRow
    ) throws -> EnqueueReceipt {
        let request = new.job.request
        var wanted = new.job.wanted
        // With a unique key, a request may have joined a job for other thumbnails, and those will be made.
        if outcome == .joined, request.uniqueKey != nil {
            wanted = try self.wanted(of: task.id)
        }
        let created = try outcome == .accepted ? now : value("SELECT created_at FROM job WHERE id = ?1", [task.id])
        guard let created else { throw StoreError.noSuchJob(task.id) }
        let thumbnails = wanted.map { RequestedThumbnail(name: $0.name, id: $0.id, thumbnail: nil) }
        let (since, due) = (Date(milliseconds: created), Date(milliseconds: task.due))
        return EnqueueReceipt(outcome, request, task.id, task.state, createdAt: since, due: due, thumbnails)
    }

    /// The receipt for a request that needs no job. In a batch or with a hook it still creates a completed job, because
    /// the batch must include every request made in its name, and the hook is told of every one that names it.
    package func answer(_ new: CheckedRequest, by thumbnails: [Thumbnail]) throws -> EnqueueReceipt {
        // The requester will read them, however long ago they were made.
        try noteUse(of: thumbnails.map(\.id))
        let request = new.job.request
        try label([(request, thumbnails.map(\.id))])
        let id: Int64? =
            if let batch = request.batch {
                try answered(new, in: batch)
            } else if request.hook != nil {
                try answered(new)
            } else {
                nil
            }
        let answers = zip(new.job.wanted, thumbnails).map { wanted, thumbnail in
            RequestedThumbnail(name: wanted.name, id: thumbnail.id, thumbnail: thumbnail)
        }
        let time = Date(milliseconds: now)
        return EnqueueReceipt(.fresh, request, id, .completed, createdAt: time, due: time, answers)
    }

    /// The completed job that represents such a request in a batch; repeated requests share it.
    private func answered(_ new: CheckedRequest, in name: String) throws -> Int64 {
        let number = try batch(name)
        // An earlier request of the same call may have ended its job.
        try flushHistory()
        let known: Int64? = try value(
            """
            SELECT job_id FROM batch_job \(dialect.indexed(by: "batch_job_answered"))
            WHERE batch = ?1 AND answered = ?2 AND answered IS NOT NULL
              AND EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job_id AND state = \(JobState.completed.code))
            """,
            [number, new.key.text]
        )
        if let id = known {
            if let hook = new.job.request.hook {
                try note(hook: hook, for: id)
                try deliver(End(.completed), of: id, only: hook)
            }
            return id
        }
        let id = try answered(new)
        try execute(
            """
            INSERT INTO batch_job(batch, job_id, answered) VALUES (?1, ?2, ?3)
            ON CONFLICT (batch, job_id) DO UPDATE SET answered = excluded.answered
            """,
            [number, id, new.key.text]
        )
        return id
    }

    private func answered(_ new: CheckedRequest) throws -> Int64 {
        let id = try insertJob(new.text)
        let entry = try newTask(new.job, as: id, createdAt: now)
        try record([entry])
        try end(entry.task, from: nil, End(.completed))
        return id
    }

    /// Accepts or refuses one row. An error of the row ends only this row.
    ///
    /// - Returns: the job, if it was refused.
    /// - Throws: errors that concern the store as a whole.
    package func accept(_ arrival: Arrival, by enter: (NewJob) throws -> Void) throws -> LostJob? {
        do {
            let new = try arrival.reading.get()
            try inSavepoint { try enter(new) }
            return nil
        } catch let error as InvalidRequest {
            return try refuse(arrival.id, error)
        } catch {
            guard let reason = objection(error) else { throw error }
            return try refuse(arrival.id, "the store cannot keep the request: \(reason)")
        }
    }

    package func refuse(_ id: Int64, _ error: InvalidRequest) throws -> LostJob {
        try refuse(id, "the request is invalid: \(error)")
    }

    /// Discards a row that cannot be accepted. The request may be anything; its queue, batch and hook are used if they
    /// are valid.
    package func refuse(_ id: Int64, _ reason: String) throws -> LostJob {
        let fields = ["queue", "source", "batch", "hook"].map { "\(dialect.field($0)) AS \($0)" }
        let row = try row("SELECT \(fields.joined(separator: ", ")), created_at FROM job WHERE id = ?1", [id])
        guard let row else { throw StoreError.noSuchJob(id) }
        func valid(_ column: String, _ isValid: (String) -> Bool) throws -> String? {
            try (row[column] as String?).flatMap { isValid($0) ? $0 : nil }
        }
        let name = try valid("queue", ThumbnailRequest.isLabel) ?? ThumbnailRequest.defaultQueue
        let queue = try queue(name)
        if let batch = try valid("batch", ThumbnailRequest.isName) { try enter([batch], id) }
        let failure = JobFailure(.requestInvalid, at: .request, reason)
        let task = TaskRow(id: id, queue: queue, due: try row["created_at"], isHooked: true)
        try note(hook: valid("hook", ThumbnailRequest.isLabel), ofQueue: queue, for: id)
        try end(task, from: nil, End(.discarded, failure: failure))
        return LostJob(id: id, source: try row["source"], queue: name, attempt: 0, failure: failure)
    }
}

// DESIGN. A client that got no answer repeats its request. The receipt is stored under the client's key in the
// transaction that accepts the request, so that either both exist or neither does.

/// The receipt of a request under an idempotency key.
package struct FirstReceipt: Sendable {
    package let key: IdempotencyKey
    package let asked: CheckedRequest
    /// The digest of the bytes of its picture; empty if it has none.
    package let bytes: String
    /// The digest of what was requested.
    package let request: String

    /// `data` are the bytes of the picture, if the request has one.
    package init(_ key: IdempotencyKey, of request: CheckedRequest, data: BlobDigest?) {
        (self.key, asked, bytes) = (key, request, data?.hex ?? "")
        self.request = BlobDigest(of: Array("\(request.text)\n\(bytes)".utf8)).hex
    }

    /// What the key already stands for: a receipt, or an objection if it was for another request; nil if it is new.
    package func known(_ db: some QueueTransaction) throws -> Result<EnqueueReceipt, InvalidRequest>? {
        let look = "SELECT request, receipt FROM first_receipt WHERE key = ?1 AND at > ?2"
        guard let row = try db.row(look, [key.text, db.now - IdempotencyKey.lifetime]) else { return nil }
        return try known(isSame: row["request"] == request, receipt: row["receipt"])
    }

    /// What a row says; `receipt` is read only if it is for the same request. Nil for one that does not name the request's
    /// thumbnails, which Cameo has not written.
    package func known(isSame: Bool, receipt: String) throws -> Result<EnqueueReceipt, InvalidRequest>? {
        guard isSame else {
            return .failure(
                InvalidRequest(path: "Idempotency-Key", reason: "was used for another request within the last day")
            )
        }
        let receipt = try? WireFormat.decode(EnqueueReceipt.self, from: Data(receipt.utf8))
        let wanted = asked.job.wanted.map { CameoURI.thumbnail($0.id) }
        return receipt.flatMap { $0.thumbnails.map(\.uri) == wanted ? .success($0) : nil }
    }

    package func note(_ receipt: EnqueueReceipt, _ db: some QueueTransaction) throws {
        try db.execute(
            """
            INSERT INTO first_receipt(key, request, receipt, at) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (key) DO UPDATE
              SET request = excluded.request, receipt = excluded.receipt, at = excluded.at
            """,
            [key.text, request, String(decoding: try WireFormat.encode(receipt), as: UTF8.self), db.now]
        )
    }
}
