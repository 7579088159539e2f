internal import CameoHTTPCache
package import CameoModel
internal import CameoQueue
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
        let (found, hasArrivals) = try await read { db in (try db.answerable(new), try db.hasArrivals()) }
        if hasArrivals { try await acceptArrivals() }
        var damaged: Set<BlobDigest> = []
        for blob in Set(found.flatMap(\.blobs)) where try await !isWhole(blob) { damaged.insert(blob) }
        return MadeThumbnails(answered: Set(found.map(\.index)), damaged: damaged)
    }
}
