internal import CameoQueue
internal import CameoStore

// DESIGN. The maintenance lock is a row with a lease, because a lock of a session does not survive a pooler in transaction
// mode, and that of a transaction would keep one open for as long as the pruning takes, which holds back autovacuum. Each
// transaction of the holder renews the lease and proves with it that nobody else has taken the lock meanwhile.

/// The right to maintain the store, until it is released or its lease runs out.
final class MaintenanceLease: Sendable {
    /// How long the right outlives its holder, in milliseconds.
    static let milliseconds: Int64 = 60_000

    private let holder: String
    private let store: PostgreSQLStore

    init(of store: PostgreSQLStore, holder: String) {
        (self.store, self.holder) = (store, holder)
    }

    deinit {
        store.release(holder)
    }

    /// Takes the right if nobody has it.
    static func take(as holder: String, _ db: PostgreSQLTransaction) throws -> Bool {
        // The row is passed over while another process changes it.
        return try db.execute(
            """
            UPDATE maintenance SET holder = $1, lease_until = $2
            WHERE one IN (SELECT one FROM maintenance WHERE holder IS NULL OR lease_until < $3 FOR UPDATE SKIP LOCKED)
            """,
            [holder, db.now + milliseconds, db.now]
        ) == 1
    }

    /// Renews the lease. The transaction keeps others from taking the right until it ends.
    ///
    /// - Throws: ``StoreError/busy(path:)`` if another process has taken it.
    func renew(_ db: PostgreSQLTransaction) throws {
        let count = try db.execute(
            "UPDATE maintenance SET lease_until = $2 WHERE holder = $1",
            [holder, db.now + Self.milliseconds]
        )
        guard count == 1 else { throw StoreError.busy(path: store.location) }
    }
}
