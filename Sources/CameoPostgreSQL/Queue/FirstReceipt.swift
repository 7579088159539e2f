internal import CameoQueue
internal import CameoStore

extension FirstReceipt {
    /// Keeps another process from accepting the same request at the same time.
    func lock(_ db: Database) throws {
        try db.execute(
            "SELECT pg_advisory_xact_lock($1::integer, hashtext($2))",
            [Int64(AdvisoryLock.firstReceipts), "\(db.schema) \(key.text)"]
        )
    }
}
