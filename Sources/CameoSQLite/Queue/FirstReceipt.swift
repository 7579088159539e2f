internal import CameoModel
internal import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. A client that got no answer repeats its request. The receipt is stored under the client's key in the
// transaction that accepts the request, so that either both exist or neither does.

/// The receipt of a request under an idempotency key.
struct FirstReceipt: Sendable {
    private let key: IdempotencyKey
    /// The digest of what was requested.
    private let request: String

    /// `data` are the bytes of the picture, if the request has one.
    init(_ key: IdempotencyKey, of request: CheckedRequest, data: BlobDigest?) {
        self.key = key
        self.request = SHA256.digest(of: Array("\(request.text)\n\(data?.hex ?? "")".utf8)).hex
    }

    /// What the key already stands for: a receipt, or an objection if it was for another request; nil if it is new.
    func known(_ db: SQLiteTransaction) throws -> Result<EnqueueReceipt, InvalidRequest>? {
        let look = try db.cachedStatement(sql: "SELECT request, receipt FROM first_receipt WHERE key = ? AND at > ?")
        guard let row = try Row.fetchOne(look, arguments: [key.text, db.now - IdempotencyKey.lifetime]) else { return nil }
        guard row[0] == request else {
            return .failure(
                InvalidRequest(path: "Idempotency-Key", reason: "was used for another request within the last day")
            )
        }
        return .success(try WireFormat.decode(EnqueueReceipt.self, from: Data((row[1] as String).utf8)))
    }

    func note(_ receipt: EnqueueReceipt, _ db: SQLiteTransaction) throws {
        let text = String(decoding: try WireFormat.encode(receipt), as: UTF8.self)
        let note = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO first_receipt(key, request, receipt, at) VALUES (?, ?, ?, ?)"
        )
        try note.execute(arguments: [key.text, request, text, db.now])
    }
}
