internal import CameoQueue
internal import CameoStore
internal import Foundation

/// The connections that read: two, so that one long read does not hold up the others.
final class ReaderPool: Sendable {
    private let connections: [ConnectionQueue]
    private let clock: ServerClock
    private let watch: StoreIdentity

    /// `connection` becomes the first, so that most commands need no other to read.
    init(_ url: DatabaseURL, _ connection: Connection, clock: ServerClock, watch: StoreIdentity) {
        connections = [
            ConnectionQueue(url, name: "reader-1", adopting: connection), ConnectionQueue(url, name: "reader-2"),
        ]
        self.clock = clock
        self.watch = watch
    }

    /// The connection with the fewest calls.
    private func next() -> ConnectionQueue {
        connections.dropFirst().reduce(connections[0]) { $1.load < $0.load ? $1 : $0 }
    }

    /// Runs a read in a snapshot. If the connection is lost, it runs again on another.
    func read<Value: Sendable>(_ body: @escaping @Sendable (PostgreSQLTransaction) throws -> Value) async throws
        -> Value
    {
        let connections = next()
        return try await connections.perform { [clock, watch] in
            try connections.withConnection { connection in
                let opening: Opening
                do {
                    (opening, _) = try Opening.begin(connection, connections.url, isWriting: false, clock: clock)
                    watch.note(opening, connections.url)
                } catch {
                    connections.disconnect()
                    throw error
                }
                let db = PostgreSQLTransaction(connection, opening, schema: connections.url.schema, isWriting: false)
                let result = Result { try body(db) }
                if connection.isUsable {
                    // The end of a read can fail only with its connection, and the rows have been read.
                    do { try connection.run("ROLLBACK", prepared: true) } catch { connections.disconnect() }
                }
                return try result.get()
            }
        }
    }

    /// Runs one statement outside a transaction. Its names have to be qualified.
    func value(_ sql: String) async throws -> Int64 {
        let connections = next()
        return try await connections.perform {
            try connections.withConnection { connection in
                guard let row = try connection.run(sql).rows.first else {
                    throw StoreError.failed("a statement returned no row")
                }
                return try row[0]
            }
        }
    }

    func drain() {
        for connections in connections { connections.drain() }
    }
}
