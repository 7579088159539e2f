internal import CameoHTTPCache
package import CameoModel
package import CameoStore
package import Foundation

extension PostgreSQLStore {
    package func enqueue(_ new: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt] {
        guard rights.accepts else { return try await leave(new) }
        let made = try await madeThumbnails(of: new)
        return try await commit { db in try db.enter(new, made) }
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
        let first = key.map { FirstReceipt($0, of: new, data: digest) }
        guard rights.accepts else {
            return try await leave(request, data: data, digest: digest, cacheKey: cacheKey, first: first)
        }
        // Before the bytes are written.
        if let first, let known = try await read({ db in try first.known(db) }) { return try known.get() }
        var blob: PreparedBlob?
        if let data, let digest { blob = try await prepare(data, digest: digest, mediaType: nil) }
        let made = try await madeThumbnails(of: [new])
        return try await commit { [blob] db -> Result<EnqueueReceipt, InvalidRequest> in
            if let first {
                try first.lock(db)
                if let known = try first.known(db) { return known }
            }
            if let blob { try db.hold(blob, under: cacheKey) }
            guard let receipt = try db.enter([new], made).first else { throw StoreError.failed("no receipt") }
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

    /// Looks, before the transaction because it reads bytes, which requests existing thumbnails may answer. Accepts what
    /// SQL has inserted before.
    private func madeThumbnails(of new: [CheckedRequest]) async throws(StoreError) -> MadeThumbnails {
        let (found, hasArrivals) = try await read { db -> ([(Int, [BlobDigest])], Bool) in
            // Most requests are new; one statement tells which are not.
            let known = try db.existing(new.flatMap { $0.job.wanted.map(\.id) })
            let found = try new.enumerated().compactMap { index, new -> (Int, [BlobDigest])? in
                guard !new.needsJob, new.job.wanted.allSatisfy({ known.contains($0.id.text) }) else { return nil }
                return try db.freshThumbnails(of: new.job).map { (index, $0.map(\.blob)) }
            }
            return (found, try Arrival.exist(db))
        }
        if hasArrivals { try await acceptArrivals() }
        var made = MadeThumbnails(answered: Set(found.map(\.0)))
        for blob in Set(found.flatMap(\.1)) where try await !isWhole(blob) { made.damaged.insert(blob) }
        return made
    }
}

/// The requests that existing thumbnails may answer.
struct MadeThumbnails: Sendable {
    /// The indexes of requests that may need no job.
    var answered: Set<Int> = []
    /// Blobs that are missing or damaged, whose thumbnails need a job.
    var damaged: Set<BlobDigest> = []
}

extension Database {
    /// Inserts uploaded bytes, which are the newest of their cache key if there is one.
    fileprivate func hold(_ blob: PreparedBlob, under key: CacheKey?) throws {
        guard let key else { return try blob.insert(self) }
        let source = CachedSource(
            handedOver: blob.digest,
            bytes: blob.size,
            mediaType: blob.mediaType,
            under: key,
            at: Date(milliseconds: now),
            sourceSeen: try nextSourceSeen()
        )
        _ = try keep(source, blob, budget: nil)
    }

    /// The existing thumbnails of a request if they are all known to be fresh (invariant I5); nil if a job is needed. A
    /// request with a later `runAt` always needs one, so that freshness is checked then.
    func freshThumbnails(of new: NewJob) throws -> [Thumbnail]? {
        let request = new.request
        guard request.refresh != .always, request.runAt.map({ $0.milliseconds <= now }) ?? true else { return nil }
        let found = try thumbnails(new.wanted.map(\.id))
        let thumbnails = new.wanted.compactMap { found[$0.id] }
        guard thumbnails.count == new.wanted.count else { return nil }
        let freshness = request.refresh == .never ? .unasked : try freshness(of: request)
        return thumbnails.allSatisfy(freshness.holds(for:)) ? thumbnails : nil
    }
}
