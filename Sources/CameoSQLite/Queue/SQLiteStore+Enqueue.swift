internal import CameoHTTPCache
package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation
internal import GRDB

extension SQLiteStore {
    package func enqueue(_ new: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt] {
        try await acceptArrivals()
        let made = try await madeThumbnails(of: new)
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
        let made = try await madeThumbnails(of: [new])
        return try await commit { [blob] db -> Result<EnqueueReceipt, InvalidRequest> in
            if let known = try first?.known(db) { return known }
            if let blob { try db.hold(blob, under: cacheKey) }
            let receipt = try Self.enter([new], made, in: db)[0]
            if let digest, receipt.outcome != .accepted { try db.noteOrphan(digest) }
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

    /// Looks, before the transaction because it reads bytes, which requests existing thumbnails may answer.
    private func madeThumbnails(of new: [CheckedRequest]) async throws(StoreError) -> MadeThumbnails {
        let found = try await read { db in try db.answerable(new) }
        var damaged: Set<BlobDigest> = []
        for blob in Set(found.flatMap(\.blobs)) where try await !isWhole(blob) { damaged.insert(blob) }
        return MadeThumbnails(answered: Set(found.map(\.index)), damaged: damaged)
    }

    private static func enter(
        _ new: [CheckedRequest],
        _ made: MadeThumbnails,
        in db: SQLiteTransaction
    ) throws -> [EnqueueReceipt] {
        let accepted = try acceptedThrough(db)
        var last = accepted
        let receipts = try new.enumerated().map { index, draft in
            let receipt = try enter(draft, answer: try made.answer(to: draft, at: index, db), db)
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
}
