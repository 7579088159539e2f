internal import Dispatch
internal import Foundation

// DESIGN. SQLite blocks, so a connection has a thread of its own, never one of the cooperative pool, and `PRAGMA data_version`
// must stay on one connection.
//
// @unchecked: the connection is used on the queue only, and closed when nobody has the queue any more.
/// A connection whose users take turns.
final class ConnectionQueue: @unchecked Sendable {
    private let queue = DispatchQueue(label: "cameo.store", qos: .userInitiated)
    private let connection: SQLiteConnection

    init(_ path: String, _ access: SQLiteConnection.Access, patience: Patience = Patience()) throws {
        connection = try SQLiteConnection(path, access, patience: patience)
    }

    /// Runs a body on the caller's thread, after all that wait.
    func sync<Value>(_ body: (SQLiteConnection) throws -> Value) rethrows -> Value {
        try queue.sync {
            defer { connection.rollBack() }
            return try body(connection)
        }
    }

    func async(_ body: @escaping @Sendable (SQLiteConnection) -> Void) {
        queue.async {
            defer { self.connection.rollBack() }
            body(self.connection)
        }
    }

    /// Runs a body on the queue, whatever becomes of the caller's task.
    func run<Value: Sendable>(_ body: @escaping @Sendable (SQLiteConnection) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            async { connection in continuation.resume(with: Result { try body(connection) }) }
        }
    }
}
