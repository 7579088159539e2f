internal import CameoModel
package import CameoQueue
package import CameoStore

extension PostgreSQLTransaction {
    /// The number of a fetch that begins now: higher than those of all that have begun.
    package func nextSourceSeen() throws -> Int64 {
        guard let number: Int64 = try value("SELECT nextval('source_seen')") else {
            throw StoreError.failed("no number of a fetch")
        }
        return number
    }

    package func rename(_ claim: Claim, to key: String?) throws {
        try execute("UPDATE task SET unique_key = $1 WHERE id = $2", [key, claim.jobID])
        ledger.claimed[claim.token]?.uniqueKey = key
    }

    package func lock(_ receipt: FirstReceipt) throws {
        try execute(
            "SELECT pg_advisory_xact_lock($1::integer, hashtext($2))",
            [Int64(AdvisoryLock.firstReceipts), "\(schema) \(receipt.key.text)"]
        )
    }
}
