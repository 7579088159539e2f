internal import CameoModel
package import CameoQueue
package import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. Rows of history that are removed leave dead ones behind, which go with their partition once all of it has
// expired (``Partitions``).
extension PostgreSQLStore {
    package func finishPruning(_ steps: inout PruneSteps<PostgreSQLStore>, now: Int64) async throws {
        try await steps.take { db in
            try db.execute("DELETE FROM partial WHERE at < $1", [now - orphanAge])
            return PruneStep(isLast: true)
        }
        for change in try await read({ db in try Partitions.changes(now: now, db) }) {
            try await steps.take { db in
                // If its lock is not to be had, the next maintenance tries again.
                _ = try db.withShortWaits { try db.execute(change.sql, change.values) }
                return PruneStep(isLast: true)
            }
        }
    }

    package func maintenanceTurn() async throws(StoreError) -> MaintenanceTurn? {
        let holder = UUID().uuidString
        let taken = try await transaction { db in
            // The row is passed over while another process changes it.
            try db.execute(
                """
                UPDATE maintenance SET holder = $1, lease_until = $2
                WHERE one IN (
                  -- One that lasts longer than any can is of a time when the server's clock was ahead.
                  SELECT one FROM maintenance WHERE holder IS NULL OR lease_until < $3 OR lease_until > $4
                  FOR UPDATE SKIP LOCKED)
                """,
                [holder, db.now + MaintenanceLease.milliseconds, db.now, db.now + 2 * MaintenanceLease.milliseconds]
            )
        }
        guard taken == 1 else { return nil }
        let lease = MaintenanceLease(of: self, holder: holder)
        return MaintenanceTurn(lease) { [self] in try await transaction { db in try lease.renew(db) } }
    }
}

extension PostgreSQLTransaction {
    package func lockNames() throws -> Bool {
        // Whoever looks up a name meanwhile waits behind this, and this behind an import: the next maintenance tries again.
        try withShortWaits { try execute("LOCK TABLE maintenance IN EXCLUSIVE MODE") }
    }

    package func holdClaims() throws { try lock(.limitedClaim) }

    /// Runs a body that waits for each lock half a second.
    ///
    /// - Returns: whether it got its locks; if not, it has changed nothing.
    fileprivate func withShortWaits(_ body: () throws -> Void) throws -> Bool {
        do {
            try inSavepoint {
                try execute("SELECT set_config('lock_timeout', '500', true)")
                try body()
                try execute("SELECT set_config('lock_timeout', '\(LockPatience.whole.rawValue)', true)")
            }
            return true
        } catch let error as DatabaseError where error.isUnavailableLock {
            return false
        }
    }
}

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

    /// Gives the right back, soon after. If that fails, its lease runs out.
    deinit {
        store.errands.start { [store, holder] in
            _ = try? await store.transaction { db in
                try db.execute("UPDATE maintenance SET holder = NULL WHERE holder = $1", [holder])
            }
        }
    }

    static func of(_ turn: MaintenanceTurn) throws(StoreError) -> MaintenanceLease {
        guard let lease = turn.lock as? MaintenanceLease else {
            throw .failed("the maintenance lock is not one of this store")
        }
        return lease
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

/// Work that a call has left for after its return. A program that is about to exit waits for it.
final class Errands: Sendable {
    /// Ends after all that were started before it.
    private let last = Mutex<Task<Void, Never>?>(nil)

    func start(_ work: @escaping @Sendable () async -> Void) {
        last.withLock { last in
            let before = last
            last = Task {
                await work()
                await before?.value
            }
        }
    }

    /// Waits for all that has been started, also meanwhile.
    func finish() async {
        var awaited: Task<Void, Never>?
        while let task = last.withLock({ $0 }), task != awaited {
            await task.value
            awaited = task
        }
    }
}

// DESIGN. The history of jobs is partitioned by week. A week's partition is made ahead of it. It is dropped once retention
// has removed all that was in it, dead rows and all, which no vacuum then has to pass. Rows of a time without a partition
// are in the default one, and stay there: nothing waits for a partition. Both changes lock the table against everything
// for a moment, so they give up soon, and are tried again at the next maintenance. Functions of the tables' owner make
// them, so that workers need not be the owner (``Schema``).
enum Partitions {
    private static let week: Int64 = 7 * 86_400_000
    /// How many weeks ahead partitions are made.
    private static let ahead: Int64 = 4
    /// How far from now the partitions are that a move makes.
    private static let weeksOfAMove: Int64 = 53
    /// The tables with partitions.
    static let tables = ["outcome", "earlier_attempt"]

    /// The statements that make or drop partitions: this week and the next ones need them, past ones only while they have
    /// rows. Each is for a transaction of its own, so that none holds the locks of another.
    static func changes(now: Int64, _ db: PostgreSQLTransaction) throws -> [Connection.Statement] {
        let current = now / week
        return try tables.flatMap { table -> [Connection.Statement] in
            let known: Set<String> = try Set(
                db.column(
                    "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = $1::regclass",
                    [table]
                )
            )
            let missing = (current...(current + ahead)).filter { !known.contains("\(table)_w\($0)") }
            let empty: [Int64] = try db.column("SELECT empty_partitions($1, $2)", [table, current])
            return missing.map { Connection.Statement("SELECT make_partition($1, $2)", [table, $0]) }
                + empty.map { Connection.Statement("SELECT drop_partition($1, $2)", [table, $0]) }
        }
    }

    /// Makes the partitions of times that are not more than a year away, for rows that come from another store.
    static func make(for times: [Int64], of table: String, _ db: PostgreSQLTransaction) throws {
        let current = db.now / week
        for number in Set(times.map { $0 / week }).sorted() where abs(number - current) <= weeksOfAMove {
            guard try db.value("SELECT to_regclass($1) IS NULL", ["\(table)_w\(number)"]) == true else { continue }
            try db.execute("SELECT make_partition($1, $2)", [table, number])
        }
    }
}
