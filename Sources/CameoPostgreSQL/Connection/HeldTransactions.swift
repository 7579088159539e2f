internal import CameoQueue
internal import CameoStore
internal import Foundation

/// Transactions that hold their locks while something outside of the database happens. Each has a connection of its own.
final class HeldTransactions: Sendable {
    private let url: DatabaseURL
    private let clock: ServerClock
    private let watch: StoreIdentity

    init(_ url: DatabaseURL, clock: ServerClock, watch: StoreIdentity) {
        self.url = url
        self.clock = clock
        self.watch = watch
    }

    /// Begins a transaction, and if `look` returns a value, runs `work` and then `end` before the commit. The
    /// server ends a transaction whose work takes longer than half a minute; then this fails.
    ///
    /// - Returns: the value that `look` returned.
    func hold<Value: Sendable>(
        _ look: @escaping @Sendable (PostgreSQLTransaction) throws -> Value?,
        while work: () async throws -> Void,
        finally end: @escaping @Sendable (PostgreSQLTransaction, Value) throws -> Void
    ) async throws -> Value? {
        let connections = ConnectionQueue(url, name: "holder")
        let (clock, watch) = (clock, watch)
        let found: (opening: Opening, value: Value)? = try await connections.perform {
            try connections.withConnection { connection in
                let (opening, _) = try Opening.begin(connection, connections.url, isWriting: true, clock: clock)
                if let refusal = watch.note(opening, connections.url) { throw refusal }
                let db = PostgreSQLTransaction(connection, opening, schema: connections.url.schema, isWriting: true)
                do {
                    if let value = try look(db) {
                        try db.execute("SELECT set_config('idle_in_transaction_session_timeout', '30000', true)")
                        return (opening, value)
                    }
                    try connection.run("ROLLBACK")
                    return nil
                } catch {
                    connections.disconnect()
                    throw error
                }
            }
        }
        guard let found else { return nil }
        do {
            try await work()
        } catch {
            await rollBack(connections)
            throw error
        }
        do {
            try await connections.perform {
                let connection = try connections.connect()
                // Fails on another connection than the one that began, which has no transaction.
                let db = PostgreSQLTransaction(
                    connection,
                    found.opening,
                    schema: connections.url.schema,
                    isWriting: true
                )
                guard let id = found.opening.transaction?.id,
                    try db.value("SELECT pg_current_xact_id_if_assigned()::text = $1", [id]) == true
                else { throw DatabaseError("the transaction was ended by the server") }
                try end(db, found.value)
                try connection.run("COMMIT")
            }
        } catch {
            await rollBack(connections)
            throw error
        }
        return found.value
    }

    private func rollBack(_ connections: ConnectionQueue) async {
        await withCheckedContinuation { continuation in
            connections.async {
                // The end of the connection is one.
                connections.disconnect()
                continuation.resume()
            }
        }
    }
}
