package import CameoModel
package import Foundation
internal import GRDB

extension Store {
    /// Requests of one call and so of one transaction, at the most advisable: more would hold the write lock for long.
    package static let enqueueChunk = 1_000
    /// Bytes of a picture that is handed over with its request.
    package static let maximumUploadBytes = 104_857_600

    /// Accepts requests: all of them, durable on return and in the given order, or none. One for the same thumbnails as a
    /// job that waits joins it; one whose thumbnails are made and fresh needs no job.
    ///
    /// - Throws: `InvalidRequest` for one whose thumbnails cannot be named (a malformed `data:` URI), else ``StoreError``.
    package func enqueue(_ requests: [ThumbnailRequest]) async throws -> [EnqueueReceipt] {
        let new = try requests.map { try NewJob($0) }
        try await nameWaitingJobs()
        let now = nowMilliseconds
        let damaged = try await damagedThumbnails(of: new, now: now)
        return try await commit { db in try new.map { try Self.accept($0, except: damaged, now: now, in: db) } }
    }

    /// Accepts a picture's bytes and the request for it, whose source is replaced by their name: the blob URI of these
    /// very bytes, or the name of whatever is newest under a key, which they are from now on (invariant I4).
    package func enqueue(
        _ request: ThumbnailRequest,
        data: Data,
        cacheKey: CacheKey? = nil
    ) async throws -> EnqueueReceipt {
        guard (1...Self.maximumUploadBytes).contains(data.count) else {
            let reason = "a picture handed over must have 1 to \(Self.maximumUploadBytes) bytes, not \(data.count)"
            throw InvalidRequest(path: "data", reason: reason)
        }
        let digest = SHA256.digest(of: data)
        var request = request
        request.source = cacheKey?.uri ?? CameoURI.blob(digest).text
        let new = try NewJob(request, sourceBlob: cacheKey == nil ? digest : nil)
        try await nameWaitingJobs()
        let blob = try await files.prepare(data, digest: digest, mediaType: nil)
        let now = nowMilliseconds
        let damaged = try await damagedThumbnails(of: [new], now: now)
        return try await commit { db in
            if let cacheKey {
                let source = CachedSource(
                    handedOver: blob,
                    under: cacheKey,
                    at: Date(milliseconds: now),
                    sourceSeen: try Self.nextSourceSeen(db)
                )
                _ = try Self.keep(source, blob, budget: nil, now: now, in: db)
            } else {
                try blob.insert(in: db, at: now)
            }
            let receipt = try Self.accept(new, except: damaged, now: now, in: db)
            if receipt.outcome != .accepted { try Self.noteOrphan(digest, at: now, db) }
            return receipt
        }
    }

    /// Of the thumbnails that would be the answer at once, those whose bytes are gone or damaged: they need a job. Looked
    /// for before the transaction, because it reads them all.
    private func damagedThumbnails(of new: [NewJob], now: Int64) async throws(StoreError) -> Set<BlobDigest> {
        let blobs = try await read { db in
            try new.reduce(into: Set<BlobDigest>()) { blobs, new in
                blobs.formUnion(try Self.freshThumbnails(of: new, now: now, db)?.map(\.blob) ?? [])
            }
        }
        var damaged: Set<BlobDigest> = []
        for blob in blobs where try await !isWhole(blob) { damaged.insert(blob) }
        return damaged
    }

    private static func accept(
        _ new: NewJob,
        except damaged: Set<BlobDigest>,
        now: Int64,
        in db: Database
    ) throws -> EnqueueReceipt {
        if let thumbnails = try freshThumbnails(of: new, now: now, db), damaged.isDisjoint(with: thumbnails.map(\.blob))
        {
            return try answer(new, by: thumbnails, now: now, db)
        }
        if let id = try standing(for: new.key, db) {
            try join(id, new.joining(now: now), now: now, db)
            return try receipt(.joined, new, id, db)
        }
        let id = try insert(new, now: now, db)
        let stand = try db.cachedStatement(sql: "UPDATE job SET unique_key = ?, joinable = 1 WHERE id = ?")
        try stand.execute(arguments: [new.key.text, id])
        return try receipt(.accepted, new, id, db)
    }

    private static func insert(_ new: NewJob, now: Int64, _ db: Database) throws -> Int64 {
        let insert = try db.cachedStatement(
            sql: "INSERT INTO job(request, thumbnails, source_blob, created_at) VALUES (?, ?, ?, ?)"
        )
        let wanted = try WantedThumbnail.json(of: new.wanted)
        try insert.execute(arguments: [new.text, wanted, new.sourceBlob?.hex, now])
        return db.lastInsertedRowID
    }

    private static func receipt(
        _ outcome: EnqueueReceipt.Outcome,
        _ new: NewJob,
        _ id: Int64,
        _ db: Database
    ) throws -> EnqueueReceipt {
        // The trigger job_accept decides state and times after the row stands: RETURNING would show it before.
        let look = try db.cachedStatement(
            sql: "SELECT state, created_at, available_at, request, thumbnails FROM job WHERE id = ?"
        )
        guard let row = try Row.fetchOne(look, arguments: [id]) else { throw StoreError.noSuchJob(id) }
        var wanted = new.wanted
        // Under a key of its own a request may have joined a job for other thumbnails: those are what will be made.
        if outcome == .joined, new.request.uniqueKey != nil {
            let stored = try WantedThumbnail.list(from: row["thumbnails"])
            wanted = stored.isEmpty ? try WantedThumbnail.all(of: row["request"]) : stored
        }
        return EnqueueReceipt(
            outcome: outcome,
            id: id,
            state: try JobState(stored: row["state"]),
            source: new.request.source,
            queue: new.request.queue,
            batch: new.request.batch,
            createdAt: Date(milliseconds: row["created_at"]),
            availableAt: Date(milliseconds: row["available_at"]),
            thumbnails: try wanted.map { RequestedThumbnail(name: $0.name, id: try $0.id, thumbnail: nil) },
            metadata: new.request.metadata.isEmpty ? nil : new.request.metadata
        )
    }

    /// The thumbnails of a request that are made and, by what the store knows, fresh (invariant I5); nil if a job is
    /// needed. A request for later wants to be looked at then.
    private static func freshThumbnails(of new: NewJob, now: Int64, _ db: Database) throws -> [Thumbnail]? {
        let request = new.request
        guard request.refresh != .always, request.runAt.map({ $0.milliseconds <= now }) ?? true else { return nil }
        let freshness = request.refresh == .never ? .unasked : try freshness(of: request, now: now, db)
        var thumbnails: [Thumbnail] = []
        for wanted in new.wanted {
            guard let thumbnail = try thumbnail(try wanted.id, db), freshness.holds(for: thumbnail) else { return nil }
            thumbnails.append(thumbnail)
        }
        return thumbnails
    }

    /// The job that says in a batch that a request was answered at once; the same one for the same request.
    private static func answered(_ new: NewJob, in batch: String, now: Int64, _ db: Database) throws -> Int64 {
        let look = try db.cachedStatement(
            sql: """
                SELECT id FROM job INDEXED BY job_answered
                WHERE state = 'completed' AND attempted_at IS NULL AND batch = ? AND unique_key = ? LIMIT 1
                """
        )
        if let id = try Int64.fetchOne(look, arguments: [batch, new.key.text]) { return id }
        let id = try insert(new, now: now, db)
        let end = try db.cachedStatement(
            sql: "UPDATE job SET unique_key = ?, state = 'completed', finalized_at = ? WHERE id = ?"
        )
        try end.execute(arguments: [new.key.text, now, id])
        return id
    }

    /// The receipt for a request that nothing need be made for. In a batch it leaves a job that is done: a batch is all
    /// that was asked for in its name.
    private static func answer(
        _ new: NewJob,
        by thumbnails: [Thumbnail],
        now: Int64,
        _ db: Database
    ) throws -> EnqueueReceipt {
        // Whoever asked comes to read them, however long ago they were made.
        try noteUse(of: thumbnails.map(\.id), now: now, db)
        let (request, time) = (new.request, Date(milliseconds: now))
        let id = try request.batch.map { batch in try answered(new, in: batch, now: now, db) }
        return EnqueueReceipt(
            outcome: .fresh,
            id: id,
            state: .completed,
            source: request.source,
            queue: request.queue,
            batch: request.batch,
            createdAt: time,
            availableAt: time,
            thumbnails: zip(new.wanted, thumbnails).map { wanted, thumbnail in
                RequestedThumbnail(name: wanted.name, id: thumbnail.id, thumbnail: thumbnail)
            },
            metadata: request.metadata.isEmpty ? nil : request.metadata
        )
    }
}
