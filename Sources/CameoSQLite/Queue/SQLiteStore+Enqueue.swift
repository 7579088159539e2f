internal import CameoHTTPCache
package import CameoModel
package import CameoStore
package import Foundation
internal import GRDB

extension SQLiteStore {
    package func enqueue(_ new: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt] {
        try await acceptArrivals()
        let now = nowMilliseconds
        let made = try await madeThumbnails(of: new, now: now)
        return try await commit { db in try Self.enter(new, made, in: db) }
    }

    package func enqueue(
        _ request: ThumbnailRequest,
        data: Data?,
        cacheKey: CacheKey?,
        once key: IdempotencyKey?
    ) async throws -> EnqueueReceipt {
        let digest = try data.map(Self.digest(ofUpload:))
        var request = request
        if let digest { request.source = cacheKey?.uri ?? CameoURI.blob(digest).text }
        let new = try CheckedRequest(request)
        try await acceptArrivals()
        let first = key.map { FirstReceipt($0, of: new, data: digest) }
        // Before the bytes are written.
        if let first, let known = try await read({ db in try first.known(db) }) { return try known.get() }
        var blob: PreparedBlob?
        if let data, let digest { blob = try await files.prepare(data, digest: digest, mediaType: nil) }
        let now = nowMilliseconds
        let made = try await madeThumbnails(of: [new], now: now)
        return try await commit { [blob] db -> Result<EnqueueReceipt, InvalidRequest> in
            if let known = try first?.known(db) { return known }
            if let blob { try Self.hold(blob, under: cacheKey, db) }
            let receipt = try Self.enter([new], made, in: db)[0]
            if let digest, receipt.outcome != .accepted { try Self.noteOrphan(digest, db) }
            try first?.note(receipt, db)
            return .success(receipt)
        }.get()
    }

    private static func digest(ofUpload data: Data) throws(InvalidRequest) -> BlobDigest {
        guard (1...StoreLimits.uploadBytes).contains(data.count) else {
            let reason = "an uploaded picture must have 1 to \(StoreLimits.uploadBytes) bytes, not \(data.count)"
            throw InvalidRequest(path: "data", reason: reason)
        }
        return SHA256.digest(of: data)
    }

    /// Inserts uploaded bytes, which are the newest of their cache key if there is one.
    private static func hold(_ blob: PreparedBlob, under key: CacheKey?, _ db: SQLiteTransaction) throws {
        guard let key else { return try blob.insert(in: db) }
        let source = CachedSource(
            handedOver: blob.digest,
            bytes: blob.size,
            mediaType: blob.mediaType,
            under: key,
            at: Date(milliseconds: db.now),
            sourceSeen: try nextSourceSeen(db)
        )
        _ = try keep(source, blob, budget: nil, in: db)
    }

    /// The requests that existing thumbnails may answer, determined before the transaction because it reads bytes.
    private struct MadeThumbnails: Sendable {
        /// The indexes of requests that may need no job.
        var answered: Set<Int> = []
        /// Blobs that are missing or damaged, whose thumbnails need a job.
        var damaged: Set<BlobDigest> = []
    }

    private func madeThumbnails(of new: [CheckedRequest], now: Int64) async throws(StoreError) -> MadeThumbnails {
        let found = try await read { db -> [(Int, [BlobDigest])] in
            // Most requests are new; one statement tells which are not.
            let known = try Self.existing(new.flatMap { $0.job.wanted.map(\.id) }, db)
            return try new.enumerated().compactMap { index, new in
                guard !new.needsJob, new.job.wanted.allSatisfy({ known.contains($0.id.text) }) else { return nil }
                return try Self.freshThumbnails(of: new.job, db).map { (index, $0.map(\.blob)) }
            }
        }
        var made = MadeThumbnails(answered: Set(found.map(\.0)))
        for blob in Set(found.flatMap(\.1)) where try await !isWhole(blob) { made.damaged.insert(blob) }
        return made
    }

    private static func enter(
        _ new: [CheckedRequest],
        _ made: MadeThumbnails,
        in db: SQLiteTransaction
    ) throws -> [EnqueueReceipt] {
        let accepted = try acceptedThrough(db)
        var last = accepted
        let receipts = try new.enumerated().map { index, draft in
            // Thumbnails made since then by another process are left to a job.
            let thumbnails = made.answered.contains(index) ? try freshThumbnails(of: draft.job, db) : nil
            let whole = thumbnails.flatMap { made.damaged.isDisjoint(with: $0.map(\.blob)) ? $0 : nil }
            let receipt = try enter(draft, answer: whole, db)
            if receipt.outcome != .joined, let id = receipt.id { last = max(last, id) }
            return receipt
        }
        try db.flush()
        // Rows inserted by SQL before these must still be accepted.
        let count = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT count(*) FROM accepted WHERE id > ?"),
            arguments: [accepted]
        )
        if last > accepted, count == last - accepted { try noteAccepted(through: last, db) }
        return receipts
    }

    private static func enter(
        _ new: CheckedRequest,
        answer thumbnails: [Thumbnail]?,
        _ db: SQLiteTransaction
    ) throws -> EnqueueReceipt {
        if let thumbnails { return try answer(new, by: thumbnails, db) }
        if let duplicate = try waitingJob(for: new.key.text, db) {
            let joined = try join(duplicate, new.job.joining(now: db.now), db)
            if let hook = new.job.request.hook { try Hooks.note(hook, for: joined.id, db) }
            return try receipt(.joined, new, joined, createdAt: nil, db)
        }
        if new.needsJob, let running = try runningJob(for: new.key.text, db) {
            return try receipt(.joined, new, running, createdAt: nil, db)
        }
        let id = try insert(new, db)
        let task = try newTask(new.job, as: id, createdAt: db.now, db)
        try record(new.job, of: task, db)
        if let batch = new.job.request.batch { try enter([batch], id, db) }
        try task.insert(db)
        db.move(task, from: nil, to: task.state)
        return try receipt(.accepted, new, task, createdAt: db.now, db)
    }

    private static func insert(_ new: CheckedRequest, _ db: SQLiteTransaction) throws -> Int64 {
        let insert = try db.cachedStatement(sql: "INSERT INTO job(request, created_at) VALUES (?, ?)")
        try insert.execute(arguments: [new.text, db.now])
        return db.lastInsertedRowID
    }

    private static func receipt(
        _ outcome: EnqueueReceipt.Outcome,
        _ new: CheckedRequest,
        _ task: TaskRow,
        createdAt: Int64?,
        _ db: SQLiteTransaction
    ) throws -> EnqueueReceipt {
        let request = new.job.request
        var wanted = new.job.wanted
        // With a unique key, a request may have joined a job for other thumbnails, and those will be made.
        if outcome == .joined, request.uniqueKey != nil {
            let look = try db.cachedStatement(sql: "SELECT thumbnails FROM accepted WHERE id = ?")
            wanted = try WantedThumbnail.list(from: String.fetchOne(look, arguments: [task.id]))
        }
        let look = try db.cachedStatement(sql: "SELECT created_at FROM job WHERE id = ?")
        let created = try createdAt ?? Int64.fetchOne(look, arguments: [task.id])
        guard let created else { throw StoreError.noSuchJob(task.id) }
        return EnqueueReceipt(
            outcome: outcome,
            id: task.id,
            state: task.state,
            source: request.source,
            queue: request.queue,
            batch: request.batch,
            createdAt: Date(milliseconds: created),
            availableAt: Date(milliseconds: task.due),
            thumbnails: wanted.map { RequestedThumbnail(name: $0.name, id: $0.id, thumbnail: nil) },
            metadata: request.metadata.isEmpty ? nil : request.metadata
        )
    }

    /// The existing thumbnails of a request if they are all known to be fresh (invariant I5); nil if a job is needed. A
    /// request with a later `runAt` always needs one, so that freshness is checked then.
    private static func freshThumbnails(of new: NewJob, _ db: SQLiteTransaction) throws -> [Thumbnail]? {
        let request = new.request
        guard request.refresh != .always, request.runAt.map({ $0.milliseconds <= db.now }) ?? true else { return nil }
        var thumbnails: [Thumbnail] = []
        for wanted in new.wanted {
            guard let thumbnail = try thumbnail(wanted.id, db) else { return nil }
            thumbnails.append(thumbnail)
        }
        let freshness = request.refresh == .never ? .unasked : try freshness(of: request, db)
        return thumbnails.allSatisfy(freshness.holds(for:)) ? thumbnails : nil
    }

    /// The receipt for a request that needs no job. In a batch or with a hook it still creates a completed job, because
    /// the batch must include every request made in its name, and the hook is told of every one that names it.
    private static func answer(
        _ new: CheckedRequest,
        by thumbnails: [Thumbnail],
        _ db: SQLiteTransaction
    ) throws -> EnqueueReceipt {
        // The requester will read them, however long ago they were made.
        try noteUse(of: thumbnails.map(\.id), db)
        let (request, time) = (new.job.request, Date(milliseconds: db.now))
        let id: Int64? =
            if let batch = request.batch {
                try answered(new, in: batch, db)
            } else if request.hook != nil {
                try answered(new, db)
            } else {
                nil
            }
        return EnqueueReceipt(
            outcome: .fresh,
            id: id,
            state: .completed,
            source: request.source,
            queue: request.queue,
            batch: request.batch,
            createdAt: time,
            availableAt: time,
            thumbnails: zip(new.job.wanted, thumbnails).map { wanted, thumbnail in
                RequestedThumbnail(name: wanted.name, id: thumbnail.id, thumbnail: thumbnail)
            },
            metadata: request.metadata.isEmpty ? nil : request.metadata
        )
    }

    /// The completed job that represents such a request in a batch; repeated requests share it.
    private static func answered(
        _ new: CheckedRequest,
        in batch: String,
        _ db: SQLiteTransaction
    ) throws -> Int64 {
        let look = try db.cachedStatement(
            sql: """
                SELECT job_id FROM batch_job INDEXED BY batch_job_answered
                WHERE batch = ? AND answered = ? AND answered IS NOT NULL
                  AND EXISTS (SELECT 1 FROM outcome WHERE outcome.id = job_id AND state = 4)
                """
        )
        let number = try Names.batch(batch, db)
        if let id = try Int64.fetchOne(look, arguments: [number, new.key.text]) {
            if let hook = new.job.request.hook {
                try Hooks.note(hook, for: id, db)
                try Hooks.enter(id, only: hook, End(state: .completed), db)
            }
            return id
        }
        let id = try answered(new, db)
        let enter = try db.cachedStatement(sql: "INSERT INTO batch_job(batch, job_id, answered) VALUES (?, ?, ?)")
        try enter.execute(arguments: [number, id, new.key.text])
        return id
    }

    private static func answered(
        _ new: CheckedRequest,
        _ db: SQLiteTransaction
    ) throws -> Int64 {
        let id = try insert(new, db)
        let task = try newTask(new.job, as: id, createdAt: db.now, db)
        try record(new.job, of: task, db)
        try end(task, from: nil, End(state: .completed), db)
        return id
    }
}
