package import CameoModel
package import Foundation
internal import GRDB

extension Store {
    /// Requests of one call and so of one transaction, at the most advisable: more would hold the write lock for long.
    package static let enqueueChunk = 1_000
    /// Bytes of a picture that is handed over with its request.
    package static let maximumUploadBytes = 104_857_600

    /// Accepts requests: all of them, durable on return and in the given order, or none.
    ///
    /// - Throws: `InvalidRequest` for one whose thumbnails cannot be named (a malformed `data:` URI), else ``StoreError``.
    package func enqueue(_ requests: [ThumbnailRequest]) async throws -> [EnqueueReceipt] {
        let rows = try requests.map { try NewJob($0) }
        return try await commit { db in try Self.insert(rows, in: db) }
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
        let row = try NewJob(request, sourceBlob: cacheKey == nil ? digest : nil)
        let blob = try await files.prepare(data, digest: digest, mediaType: nil)
        let now = nowMilliseconds
        let receipts = try await commit { db in
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
            return try Self.insert([row], in: db)
        }
        return receipts[0]
    }

    private struct NewJob: Sendable {
        let request: ThumbnailRequest
        let text: String
        let wanted: [WantedThumbnail]
        let sourceBlob: BlobDigest?

        init(_ request: ThumbnailRequest, sourceBlob: BlobDigest? = nil) throws {
            try request.validate()
            self.request = request
            self.sourceBlob = sourceBlob
            text = request.json.canonicalText
            guard text.utf8.count <= ThumbnailRequest.maximumBytes else {
                let reason =
                    "the request has \(text.utf8.count) bytes as JSON, more than \(ThumbnailRequest.maximumBytes); "
                    + "hand large pictures over as data, not as a data: URI"
                throw InvalidRequest(path: "", reason: reason)
            }
            wanted = try WantedThumbnail.all(of: request)
        }
    }

    private static func insert(_ rows: [NewJob], in db: Database) throws -> [EnqueueReceipt] {
        let insert = try db.cachedStatement(
            sql: "INSERT INTO job(request, thumbnails, source_blob) VALUES (?, ?, ?)"
        )
        // The trigger job_accept decides state and times after the row stands: RETURNING would show it before.
        let look = try db.cachedStatement(sql: "SELECT state, created_at, available_at FROM job WHERE id = ?")
        return try rows.map { row in
            try insert.execute(arguments: [row.text, WantedThumbnail.json(of: row.wanted), row.sourceBlob?.hex])
            let id = db.lastInsertedRowID
            guard let stored = try Row.fetchOne(look, arguments: [id]) else { throw StoreError.noSuchJob(id) }
            return EnqueueReceipt(
                id: id,
                state: try JobState(stored: stored["state"]),
                source: row.request.source,
                queue: row.request.queue,
                batch: row.request.batch,
                createdAt: Date(milliseconds: stored["created_at"]),
                availableAt: Date(milliseconds: stored["available_at"]),
                thumbnails: try row.wanted.map { RequestedThumbnail(name: $0.name, id: try $0.id, thumbnail: nil) },
                metadata: row.request.metadata.isEmpty ? nil : row.request.metadata
            )
        }
    }
}
