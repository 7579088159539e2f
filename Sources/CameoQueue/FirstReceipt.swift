package import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. A client that got no answer repeats its request. The receipt is stored under the client's key in the
// transaction that accepts the request, so that either both exist or neither does.

/// The receipt of a request under an idempotency key.
package struct FirstReceipt: Sendable {
    package let key: IdempotencyKey
    /// The digest of what was requested.
    package let request: String

    /// `data` are the bytes of the picture, if the request has one.
    package init(_ key: IdempotencyKey, of request: CheckedRequest, data: BlobDigest?) {
        self.key = key
        self.request = SHA256.digest(of: Array("\(request.text)\n\(data?.hex ?? "")".utf8)).hex
    }

    /// What the key already stands for: a receipt, or an objection if it was for another request; nil if it is new.
    package func known(_ db: some QueueTransaction) throws -> Result<EnqueueReceipt, InvalidRequest>? {
        let look = "SELECT request, receipt FROM first_receipt WHERE key = ?1 AND at > ?2"
        guard let row = try db.row(look, [key.text, db.now - IdempotencyKey.lifetime]) else { return nil }
        return try known(isSame: row["request"] == request, receipt: row["receipt"])
    }

    /// What a row says; `receipt` is read only if it is for the same request.
    package func known(isSame: Bool, receipt: String) throws -> Result<EnqueueReceipt, InvalidRequest> {
        guard isSame else {
            return .failure(
                InvalidRequest(path: "Idempotency-Key", reason: "was used for another request within the last day")
            )
        }
        return .success(try WireFormat.decode(EnqueueReceipt.self, from: Data(receipt.utf8)))
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
