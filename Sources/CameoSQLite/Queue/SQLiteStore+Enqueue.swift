internal import CameoHTTPCache
package import CameoModel
internal import CameoQueue
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
        if let thumbnails { return try db.answer(new, by: thumbnails) }
        if let duplicate = try db.waitingJob(for: new.key.text) {
            return try db.receipt(.joined, new, try db.join(new, duplicate))
        }
        if new.needsJob, let running = try db.runningJob(for: new.key.text) {
            return try db.receipt(.joined, new, running)
        }
        let entry = try db.newTask(new.job, as: try db.insertJob(new.text), createdAt: db.now)
        try db.record([entry])
        try db.insert(entry.task)
        db.move(entry.task, from: nil, to: entry.task.state)
        return try db.receipt(.accepted, new, entry.task)
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
}
