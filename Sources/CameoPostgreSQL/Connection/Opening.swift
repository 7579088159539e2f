internal import CameoQueue
internal import CameoStore
internal import Foundation
internal import Synchronization

/// What the first statement of a transaction tells.
struct Opening: Sendable {
    /// See ``PostgreSQLTransaction/now``.
    let now: Int64
    /// The version of the tables.
    let version: Int
    /// By which the server tells whether the transaction was committed, if its answer is lost; nil of a read.
    let transaction: Transaction?
    let isWriting: Bool
    /// The name of the schema, which is also the search path.
    let schema: String

    struct Transaction: Hashable, Sendable {
        let id: String
        /// What changes when the server may give the id again, to another transaction.
        let era: String
        /// The server's process, also behind a pooler.
        let process: Int64

        /// The era, as SQL: the server's timeline, which a failover changes, and when its statistics began, which are
        /// discarded after a crash. An id whose transaction wrote nothing that had reached the disk is then given again.
        static let eraNow = """
            left(pg_walfile_name(pg_current_wal_lsn()), 8) || ' ' || (SELECT stats_reset::text FROM pg_stat_wal)
            """
    }

    /// How long a statement may take and wait for locks, and how long a transaction may wait for its client, in
    /// milliseconds: a client that hangs blocks others no longer, and a frozen worker does not keep its jobs locked beyond
    /// its lease. Nor does what a statement means, what is read, or whether a commit is durable depend on the settings of a
    /// role or a database.
    fileprivate static func limits(lock: LockPatience) -> String {
        """
        set_config('standard_conforming_strings', 'on', true), set_config('array_nulls', 'on', true),
          set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true),
          set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true),
          set_config('statement_timeout', '60000', true), set_config('lock_timeout', '\(lock.rawValue)', true),
          set_config('idle_in_transaction_session_timeout', '10000', true), \(uncompiled),
          set_config('quote_all_identifiers', 'off', true),
          -- Since PostgreSQL 17.
          CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
            THEN set_config('transaction_timeout', '0', true) END
        """
    }
    /// Each compilation took a second, and saves nothing where a statement takes a millisecond.
    static let uncompiled = "set_config('jit', 'off', true)"
    /// A plan that is kept must also do when the table has grown.
    static let byIndex = "set_config('enable_seqscan', 'off', true)"
    /// The server's clock and not its time of the transaction's start, which may have waited.
    fileprivate static let serverTime = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    fileprivate init(_ row: QueueRow, of tables: StoreTables, isWriting: Bool) throws {
        (schema, self.isWriting) = (tables.url.schema, isWriting)
        now = try tables.clock.supplied ?? row["time"]
        version = try row["version"]
        let (id, era, process): (String?, String?, Int64?) = try (row["id"], row["era"], row["process"])
        transaction = id.flatMap { id in era.map { Transaction(id: id, era: $0, process: process ?? 0) } }
    }
}

/// How long a statement waits for a lock, in milliseconds.
enum LockPatience: Int {
    /// Less than `deadlock_timeout` usually is, after which the server ends one of two transactions that wait for each other:
    /// the other may be a program's, which must not fail.
    case yielding = 300
    /// With what went before, less than callers wait (``CommitWaits``): they are told that nothing was written.
    case whole = 25_000
}

/// What the role that opened a store may do. Most programs use the tables' owner; `deploy/postgresql/roles.sql` makes
/// roles with fewer rights.
struct Rights: Sendable {
    /// Whether it may accept requests: make tasks of them, and not only insert them as a producer's SQL does.
    let accepts: Bool
    /// Whether it may change tasks and what is kept about them, as workers do.
    let works: Bool
    /// Whether it may read pictures.
    let readsBytes: Bool
    /// Whether it may say where bytes are kept.
    let owns: Bool
    /// The identity of the store that it may do all this in.
    let store: String

    init(_ connection: Connection, _ url: DatabaseURL) throws {
        let look = """
            SELECT has_table_privilege('\(url.quoted).job', 'INSERT') AND has_table_privilege('\(url.quoted).task', 'INSERT') AS accepts,
              has_table_privilege('\(url.quoted).task', 'UPDATE') AS works,
              has_table_privilege('\(url.quoted).blob', 'SELECT') AS reads_bytes,
              has_table_privilege('\(url.quoted).schema_version', 'UPDATE') AS owns, identity
            FROM \(url.quoted).schema_version
            """
        guard let row = try connection.run(look).rows.first else { throw DatabaseError("a statement returned no row") }
        (accepts, works) = try (row["accepts"], row["works"])
        (readsBytes, owns, store) = try (row["reads_bytes"], row["owns"], row["identity"])
    }
}

/// A store's tables, as its transactions find them.
final class StoreTables: Sendable {
    let url: DatabaseURL
    let clock: ServerClock
    let waits = CommitWaits()
    private let identity: String
    private let state = Atomic(true)

    /// `identity` is that of the tables when the store was opened.
    init(_ url: DatabaseURL, _ clock: ServerClock, identity: String) {
        (self.url, self.clock, self.identity) = (url, clock, identity)
    }

    /// Whether the schema still has the tables that it had when the store was opened.
    var isInPlace: Bool { state.load(ordering: .relaxed) }

    /// The store's error for that of a call. A database that was dropped has no tables.
    func failure(_ error: any Error) -> StoreError {
        if let error = error as? DatabaseError, error.isOfDroppedDatabase { state.store(false, ordering: .relaxed) }
        return StoreError(error, location: url.location)
    }

    /// Begins a transaction, and runs more statements in the same round trip. If it `endsAtOnce`, it ends with them. Then, and
    /// if it writes, tables are read by index.
    ///
    /// - Returns: the transaction, the results of those statements, and why nothing more must be started: a newer program has
    ///   migrated the tables, or they are another store's.
    /// - Throws: ``DatabaseError``; ``StoreError/missing(path:)`` if the tables were removed. The transaction may have begun.
    func begin(
        _ connection: Connection,
        isWriting: Bool,
        endsAtOnce: Bool = false,
        lock: LockPatience = .whole,
        then more: [Connection.Statement] = []
    ) throws -> (PostgreSQLTransaction, [QueryResult], refusal: StoreError?) {
        let mode = isWriting ? "READ COMMITTED, READ WRITE" : "REPEATABLE READ, READ ONLY"
        let ids = "pg_current_xact_id()::text AS id, \(Opening.Transaction.eraNow) AS era, pg_backend_pid() AS process"
        let own = isWriting ? ids : "NULL AS id, NULL AS era, NULL AS process"
        let plans = isWriting || endsAtOnce ? Opening.byIndex : "NULL"
        // The others do not change what a statement means that only reads numbers and names.
        let limits = endsAtOnce ? Opening.uncompiled : Opening.limits(lock: lock)
        let first: [Connection.Statement] = [
            endsAtOnce ? nil : .init("BEGIN ISOLATION LEVEL \(mode)", prepared: true),
            .init(
                """
                SELECT \(Opening.serverTime) AS time, version, identity, \(own), \(plans), \(limits),
                  set_config('search_path', '\(url.quoted), pg_temp', true)
                FROM \(url.quoted).schema_version
                """,
                prepared: true
            ),
        ].compactMap(\.self)
        let started = ContinuousClock.now
        let results: [QueryResult]
        do {
            results = try connection.run(first + more)
        } catch let error as DatabaseError where error.isMissingTable {
            throw StoreError.missing(path: url.location)
        }
        guard let row = results[first.count - 1].rows.first else { throw StoreError.notAStore(path: url.location) }
        clock.note(server: try row["time"], tookSince: started)
        let opening = try Opening(row, of: self, isWriting: isWriting)
        let isInPlace = try row["identity"] == identity
        state.store(isInPlace, ordering: .relaxed)
        let another = "another store has taken its place, or its bytes have another"
        let refusal: StoreError? =
            isInPlace
            ? Schema.refusal(of: opening.version, url) : .cannotOpen(path: url.location, reason: another)
        return (PostgreSQLTransaction(connection, opening), Array(results.dropFirst(first.count)), refusal)
    }
}

// DESIGN. Leases, back-offs and due times of a fleet go by one clock, the server's: that of a worker may be an hour off.
// Each transaction asks for it. Between transactions the store's clock is the machine's, corrected by what the last
// answers showed. Tests supply a clock of their own, which then counts everywhere.
final class ServerClock: Sendable {
    /// What the machine's clock is behind the server's, and how wrong that may be: half the round trip.
    private let estimate = Mutex((milliseconds: Int64(0), error: Int64.max, at: ContinuousClock.now))
    private let suppliedClock: StoreClock?

    /// - Parameter supplied: the clock to use instead of the server's.
    init(_ supplied: StoreClock?) { suppliedClock = supplied }

    /// The time in milliseconds since 1970 of a clock that is used instead of the server's; nil: the server's counts.
    var supplied: Int64? { suppliedClock?.now().milliseconds }

    var storeClock: StoreClock {
        suppliedClock
            ?? StoreClock(
                now: { Date().addingTimeInterval(Double(self.estimate.withLock { $0.milliseconds }) / 1_000) },
                uptime: StoreClock.system.uptime
            )
    }

    /// Learns from the server's time, in milliseconds since 1970, that an answer gave, unless a better one is less than a
    /// minute old.
    func note(server: Int64, tookSince start: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        let half = Int64(start.duration(to: now) / .milliseconds(2))
        let milliseconds = server - (Date().milliseconds - half)
        estimate.withLock { estimate in
            guard half <= estimate.error || estimate.at.duration(to: now) > .seconds(60) else { return }
            estimate = (milliseconds, half, now)
        }
    }
}

/// Locks that a transaction takes on rows of `total` that nobody changes, and that its end releases. Session locks would not
/// survive a pooler, and advisory locks may be taken by every role that may connect.
enum RowLock: String {
    /// Of claims that count running jobs because of a limit.
    case limitedClaim = "lock of limited claims"
    /// Of the folding of counts.
    case fold = "lock of the folding of counts"
}

/// The lock for what has no row yet.
enum AdvisoryLock {
    /// "Came" in ASCII: the class of the lock of the creation or migration of tables.
    private static let family: Int32 = 0x4361_6D65

    /// The arguments of `pg_advisory_xact_lock` and its like for the creation or migration of a schema's tables.
    static func tables(of schema: String) -> String {
        // FNV-1a
        let hash = "\(schema).schema".utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return "\(family), \(Int32(bitPattern: hash))"
    }
}
