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
        try queue.sync { try turn(body) }
    }

    func async(_ body: @escaping @Sendable (SQLiteConnection) -> Void) { queue.async { self.turn(body) } }

    /// Runs a body on the queue, whatever becomes of the caller's task.
    func run<Value: Sendable>(_ body: @escaping @Sendable (SQLiteConnection) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.turn(body) }) }
        }
    }

    /// A transaction that the body left open is undone before anybody goes on.
    private func turn<Value>(_ body: (SQLiteConnection) throws -> Value) rethrows -> Value {
        defer { connection.rollBack() }
        return try body(connection)
    }
}
