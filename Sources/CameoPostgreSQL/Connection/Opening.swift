internal import CameoStore
internal import Foundation

/// What the first statement of a transaction tells.
struct Opening: Sendable {
    /// See ``Database/now``.
    let now: Int64
    let version: Int
    /// Distinguishes this store from one that took its place.
    let identity: String
    /// By which the server tells whether the transaction was committed, if its answer is lost; nil of a read.
    let transaction: Transaction?

    struct Transaction: Hashable, Sendable {
        let id: String
        /// The server's timeline. On another one, after a failover, the id may be another transaction's.
        let timeline: String
    }

    /// How long a statement may take and wait for locks, and how long a transaction may wait for its client, in
    /// milliseconds: a client that hangs blocks others no longer, and a frozen worker does not keep its jobs locked beyond
    /// its lease. And statements are not compiled: each compilation took
    /// a second, and saves nothing where a statement takes a millisecond.
    private static let limits = """
        set_config('statement_timeout', '60000', true), set_config('lock_timeout', '30000', true),
          set_config('idle_in_transaction_session_timeout', '10000', true), set_config('jit', 'off', true)
        """
    /// The server's clock and not its time of the transaction's start, which may have waited.
    private static let serverTime = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// - Throws: ``StoreError/missing(path:)`` if the tables were removed.
    private static func run(
        _ connection: Connection,
        _ url: DatabaseURL,
        _ statements: [Connection.Statement]
    ) throws -> [QueryResult] {
        do {
            return try connection.run(statements)
        } catch let error as DatabaseError where error.isMissingTable {
            try connection.run("ROLLBACK")
            throw StoreError.missing(path: url.location)
        }
    }

    /// Begins a transaction.
    ///
    /// - Throws: ``DatabaseError``
    init(_ connection: Connection, _ url: DatabaseURL, isWriting: Bool, clock: ServerClock) throws {
        let mode = isWriting ? "READ COMMITTED, READ WRITE" : "REPEATABLE READ, READ ONLY"
        let own =
            isWriting
            ? "pg_current_xact_id()::text, left(pg_walfile_name(pg_current_wal_lsn()), 8)"
            : "NULL, NULL"
        let started = ContinuousClock.now
        let results = try Self.run(
            connection,
            url,
            [
                .init("BEGIN ISOLATION LEVEL \(mode)"),
                .init(
                    """
                    SELECT \(Self.serverTime), version, identity, \(own), \(Self.limits),
                      set_config('search_path', '\(url.schema), pg_temp', true), set_config('cameo.accepts', 'on', true)
                    FROM \(url.schema).schema_version
                    """
                ),
            ]
        )
        guard let row = results[1].rows.first else { throw StoreError.notAStore(path: url.location) }
        let server: Int64 = try row[0]
        clock.note(server: server, tookSince: started)
        now = clock.isSupplied ? clock.storeClock.now().milliseconds : server
        version = try row[1]
        identity = try row[2]
        let id: String? = try row[3]
        let timeline: String? = try row[4]
        transaction = id.flatMap { id in timeline.map { Transaction(id: id, timeline: $0) } }
    }
}
