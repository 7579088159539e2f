internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation
internal import Synchronization

/// The connections that read: two, so that one long read does not hold up the others.
final class ReaderPool: Sendable {
    private let connections: [ConnectionQueue]
    private let tables: StoreTables

    /// `connection` becomes the first, so that most commands need no other to read.
    init(_ tables: StoreTables, _ connection: Connection) {
        let first = ConnectionQueue(tables.url, name: "reader-1", adopting: connection)
        (connections, self.tables) = ([first, ConnectionQueue(tables.url, name: "reader-2")], tables)
    }

    /// Runs a read in a snapshot. If the connection is lost, it runs again on another.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value
    ) async throws(StoreError) -> Value {
        try await perform { [tables] connections, connection in
            let db: PostgreSQLTransaction
            do {
                db = try tables.begin(connection, isWriting: false).0
            } catch {
                connections.disconnect()
                throw error
            }
            // The end of a read can fail only with its connection, and the rows have been read.
            defer { connections.rollBack(connection) }
            return try body(db)
        }
    }

    /// Runs one statement in a transaction of its own, in one round trip. Its plan is kept.
    func look<Value: Sendable>(
        _ statement: Connection.Statement,
        _ body: @escaping @Sendable ([QueueRow], Opening) throws -> Value
    ) async throws(StoreError) -> Value {
        try await perform { [tables] _, connection in
            let (db, results, _) = try tables.begin(connection, isWriting: false, endsAtOnce: true, then: [statement])
            return try body(try Self.rows(of: results), db.opening)
        }
    }

    /// Does the same without what a transaction's opening finds out. The statement's names have to be qualified.
    func value(_ sql: String) async throws(StoreError) -> Int64 {
        try await perform { _, connection in
            let limits = "SELECT \(Opening.byIndex), \(Opening.uncompiled)"
            let results = try connection.run([.init(limits, prepared: true), .init(sql, prepared: true)])
            return try Self.rows(of: results)[0][0]
        }
    }

    /// The rows of the last statement, of which there is one at least.
    private static func rows(of results: [QueryResult]) throws(StoreError) -> [QueueRow] {
        guard let rows = results.last?.rows, !rows.isEmpty else { throw .failed("a statement returned no row") }
        return rows
    }

    private func perform<Value: Sendable>(
        _ body: @escaping @Sendable (ConnectionQueue, Connection) throws -> Value
    ) async throws(StoreError) -> Value {
        // The connection with the fewest calls.
        let least = connections.dropFirst().reduce(connections[0]) { $1.load < $0.load ? $1 : $0 }
        do {
            return try await least.perform { try least.withConnection { try body(least, $0) } }
        } catch {
            throw tables.failure(error)
        }
    }
}

// DESIGN. libpq's calls block, so each connection has a serial dispatch queue of its own, never a thread of the
// cooperative pool. A queue, because most of a store's connections rest most of the time, and one may live for a single
// transaction: a resting queue has no thread. It connects when it is first used. A connection that is lost is replaced,
// after pauses that double and vary, so that the workers of a fleet do not come back all at once; whoever waits for it
// gives up after its patience. So a server that restarts or fails over costs time, and no job.
//
// @unchecked: `connection`, `hasConnected` and `mayPrepare` are used on `queue` only.
final class ConnectionQueue: @unchecked Sendable {
    static let patience = Duration.seconds(15)

    let url: DatabaseURL
    private let queue: DispatchQueue
    /// How long a call waits for a server that cannot be reached.
    private let patience: Duration
    private var connection: Connection?
    private var hasConnected: Bool
    /// False after a prepared statement was not there.
    private var mayPrepare = true
    private let waiting = Atomic(0)

    /// `connection` is one that nobody else uses.
    init(
        _ url: DatabaseURL,
        name: String,
        adopting connection: Connection? = nil,
        patience: Duration = ConnectionQueue.patience
    ) {
        (self.url, self.patience) = (url, patience)
        (self.connection, hasConnected) = (connection, connection != nil)
        queue = DispatchQueue(label: "cameo.postgresql.\(name)", qos: .userInitiated)
    }

    /// The number of calls that wait or run.
    var load: Int { waiting.load(ordering: .relaxed) }

    /// Runs a body on the queue.
    func async(_ body: @escaping @Sendable () -> Void) {
        waiting.add(1, ordering: .relaxed)
        queue.async {
            body()
            self.waiting.subtract(1, ordering: .relaxed)
        }
    }

    /// Runs a body on the queue. The caller's cancellation does not affect it.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Calls a body with a connection, on the queue. Where the ``Remedy`` of its error says so, it is called again, after a
    /// rollback or with another connection; it must not have committed anything then.
    func withConnection<Value>(_ body: (Connection) throws -> Value) throws -> Value {
        var repetition = Repetition(patience: patience)
        while true {
            do {
                return try body(try connect(within: min(Connection.patience, repetition.rest)))
            } catch let error as DatabaseError {
                if error.isConnectionLost {
                    disconnect()
                } else if case .again = error.remedy, let connection {
                    rollBack(connection)
                }
                if error.isUnknownStatement { mayPrepare = false }
                try repetition.wait(after: tellingNeed(error))
            }
        }
    }

    /// The error of a connection that was not made, although the one that opened the store was.
    private func tellingNeed(_ error: DatabaseError) -> DatabaseError {
        guard !hasConnected, error.isConnectionLost, ["", "53300"].contains(error.state),
            !error.message.contains(Connection.need)
        else { return error }
        return DatabaseError("\(error.message). \(Connection.need)", state: error.state, isConnectionLost: true)
    }

    /// The connection, made within a limit if there is none.
    func connect(within limit: Duration = Connection.patience) throws -> Connection {
        if let connection, connection.isUsable { return connection }
        connection = nil
        let made = try Connection(url, mayPrepare: mayPrepare, within: limit)
        (connection, hasConnected) = (made, true)
        return made
    }

    /// Ends a transaction without a commit. Whatever prevents a rollback, the end of the connection is one.
    func rollBack(_ connection: Connection) {
        guard connection.isUsable else { return disconnect() }
        do { try connection.run("ROLLBACK", prepared: true) } catch { disconnect() }
    }

    /// Drops a connection whose state is unknown; the server rolls its transaction back.
    func disconnect() { connection = nil }
}

extension RetryPolicy {
    /// 50 ms, doubling up to a second, each half less or more.
    static let reconnecting = RetryPolicy(base: .milliseconds(75), cap: .milliseconds(1_500), jitter: 2.0 / 3)

    /// Blocks for the delay after so many failures in a row, at least 1.
    func wait(afterFailures count: Int) {
        usleep(UInt32(delay(afterFailures: count, chance: .random(in: 0...1)).seconds * 1_000_000))
    }
}
