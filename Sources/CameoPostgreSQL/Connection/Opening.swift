internal import CameoQueue
internal import CameoStore
internal import Foundation

/// What the first statement of a transaction tells.
struct Opening: Sendable {
    /// See ``PostgreSQLTransaction/now``.
    let now: Int64
    let version: Int
    /// Distinguishes this store from one that took its place.
    let identity: String
    /// By which the server tells whether the transaction was committed, if its answer is lost; nil of a read.
    let transaction: Transaction?

    struct Transaction: Hashable, Sendable {
        let id: String
        /// What changes when the server may give the id again, to another transaction.
        let era: String

        /// The era, as SQL: the server's timeline, which a failover changes, and when its statistics began, which are
        /// discarded after a crash. An id whose transaction wrote nothing that had reached the disk is then given again.
        static let eraNow = """
            left(pg_walfile_name(pg_current_wal_lsn()), 8) || ' ' || (SELECT stats_reset::text FROM pg_stat_wal)
            """
    }

    /// How long a statement may take and wait for locks, and how long a transaction may wait for its client, in
    /// milliseconds: a client that hangs blocks others no longer, and a frozen worker does not keep its jobs locked beyond
    /// its lease. And statements are not compiled: each compilation took a second, and saves nothing where a statement takes a
    /// millisecond. Nor does what a statement means, what is read, or whether a commit is durable depend on the settings of a
    /// role or a database.
    private static let limits = """
        set_config('standard_conforming_strings', 'on', true), set_config('array_nulls', 'on', true),
          set_config('bytea_output', 'hex', true), set_config('extra_float_digits', '1', true),
          set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true),
          set_config('statement_timeout', '60000', true), set_config('lock_timeout', '30000', true),
          set_config('idle_in_transaction_session_timeout', '10000', true), set_config('jit', 'off', true)
        """
    /// The server's clock and not its time of the transaction's start, which may have waited.
    private static let serverTime = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// Begins a transaction, and runs more statements in the same round trip.
    ///
    /// - Returns: what the transaction is told, and the results of those statements.
    /// - Throws: ``DatabaseError``; ``StoreError/missing(path:)`` if the tables were removed. The transaction may have begun.
    static func begin(
        _ connection: Connection,
        _ url: DatabaseURL,
        isWriting: Bool,
        clock: ServerClock,
        then more: [Connection.Statement] = []
    ) throws -> (Opening, [QueryResult]) {
        let mode = isWriting ? "READ COMMITTED, READ WRITE" : "REPEATABLE READ, READ ONLY"
        let own =
            isWriting
            ? "pg_current_xact_id()::text, \(Transaction.eraNow), set_config('enable_seqscan', 'off', true)"
            : "NULL, NULL, NULL"
        let first: [Connection.Statement] = [
            .init("BEGIN ISOLATION LEVEL \(mode)", prepared: true),
            .init(
                """
                SELECT \(serverTime), version, identity, \(own), \(limits),
                  set_config('search_path', '\(url.quoted), pg_temp', true)
                FROM \(url.quoted).schema_version
                """,
                prepared: true
            ),
        ]
        let started = ContinuousClock.now
        let results: [QueryResult]
        do {
            results = try connection.run(first + more)
        } catch let error as DatabaseError where error.isMissingTable {
            throw StoreError.missing(path: url.location)
        }
        guard let row = results[1].rows.first else { throw StoreError.notAStore(path: url.location) }
        clock.note(server: try row[0], tookSince: started)
        return (try Opening(row, clock), Array(results.dropFirst(first.count)))
    }

    private init(_ row: Row, _ clock: ServerClock) throws {
        now = try clock.supplied ?? row[0]
        version = try row[1]
        identity = try row[2]
        let (id, era): (String?, String?) = (try row[3], try row[4])
        transaction = id.flatMap { id in era.map { Transaction(id: id, era: $0) } }
    }
}
