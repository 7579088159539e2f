package import CameoModel
internal import CameoQueue
package import CameoStore
package import Foundation

// DESIGN. A role that may only produce (``Rights``) enqueues as a producer's SQL does: it inserts the request, and the
// next worker accepts it. It needs no right to a task, a thumbnail or another's request, and can forge none of them. What
// acceptance finds out comes after the receipt: a request for the thumbnails of a waiting job gets a job of its own, which
// is superseded, and fresh thumbnails are found by the worker.
extension PostgreSQLStore {
    package func enqueue(_ new: [CheckedRequest]) async throws(StoreError) -> [EnqueueReceipt] {
        guard !rights.accepts else { return try await enqueueAccepted(new) }
        // Notifies by itself.
        return try await commit(.claim) { db in try db.leave(new) }
    }

    package func enqueue(
        _ request: ThumbnailRequest,
        data: Data?,
        cacheKey: CacheKey?,
        once key: IdempotencyKey?
    ) async throws -> EnqueueReceipt {
        guard !rights.accepts else {
            return try await enqueueAccepted(request, data: data, cacheKey: cacheKey, once: key)
        }
        guard cacheKey == nil else {
            let reason = "this role may only enqueue, and bytes under a cache key change what others see"
            throw StoreError.denied(location: location, reason: reason)
        }
        let upload = try UploadedPicture(request, data, nil)
        let new = upload.request
        let first = key.map { FirstReceipt($0, of: new, data: upload.digest) }
        return try await commit(.claim) { db -> Result<EnqueueReceipt, InvalidRequest> in
            if let known = try first?.knownToOwner(db) { return known }
            let receipt =
                if let data { try db.leave(data, for: new) } else { try db.leave([new]).first }
            guard let receipt else { throw StoreError.failed("no receipt") }
            try first?.noteAsOwner(receipt, db)
            return .success(receipt)
        }.get()
    }
}

extension PostgreSQLTransaction {
    fileprivate func leave(_ new: [CheckedRequest]) throws -> [EnqueueReceipt] {
        let rows = try query(
            """
            INSERT INTO job(request)
            SELECT request::json FROM unnest($1::text[]) WITH ORDINALITY AS new(request, place) ORDER BY place
            RETURNING id, created_at
            """,
            [SQLArray(new.map(\.text))]
        )
        return try zip(new, rows).map { new, row in try receipt(new, id: row["id"], createdAt: row["created_at"]) }
    }

    /// The bytes are the picture; the request's source is their name.
    fileprivate func leave(_ data: Data, for new: CheckedRequest) throws -> EnqueueReceipt {
        guard case .object(var fields) = new.job.request.json else { throw StoreError.failed("a request is no object") }
        fields["source"] = nil
        let text = JSONValue.object(fields).canonicalText
        let insertion = "INSERT INTO upload(data, request) VALUES ($1, $2::json) RETURNING job_id"
        guard let id: Int64 = try value(insertion, [data, text]) else {
            throw StoreError.failed("an upload was not inserted")
        }
        return receipt(new, id: id, createdAt: now)
    }

    private func receipt(_ new: CheckedRequest, id: Int64, createdAt: Int64) -> EnqueueReceipt {
        let request = new.job.request
        let due = max(createdAt, request.runAt?.milliseconds ?? createdAt)
        let state: JobState = due > createdAt ? .scheduled : .available
        let thumbnails = new.job.wanted.map { RequestedThumbnail(name: $0.name, id: $0.id, thumbnail: nil) }
        let (since, until) = (Date(milliseconds: createdAt), Date(milliseconds: due))
        return EnqueueReceipt(.accepted, request, id, state, createdAt: since, due: until, thumbnails)
    }
}

extension FirstReceipt {
    /// Locks the receipt, and then the same as ``known(_:)``, by functions that run with the rights of the tables' owner and
    /// the server's clock. They show a receipt to whoever has its key and its request.
    fileprivate func knownToOwner(_ db: PostgreSQLTransaction) throws -> Result<EnqueueReceipt, InvalidRequest>? {
        let row = try db.row("SELECT same, receipt FROM known_receipt($1, $2)", [key.text, request])
        return try row.flatMap { try known(isSame: $0["same"], receipt: $0["receipt"] ?? "") }
    }

    /// The same as ``note(_:_:)``, for a job that this transaction has inserted.
    fileprivate func noteAsOwner(_ receipt: EnqueueReceipt, _ db: PostgreSQLTransaction) throws {
        let text = String(decoding: try WireFormat.encode(receipt), as: UTF8.self)
        try db.execute("SELECT keep_receipt($1, $2, $3, $4::json)", [key.text, asked.text, bytes, text])
    }
}
