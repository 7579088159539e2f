internal import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. libpq's calls block, so each connection has a serial dispatch queue of its own, never a thread of the
// cooperative pool. It connects when it is first used. A connection that is lost is replaced, after pauses that double
// and vary, so that the workers of a fleet do not come back all at once; whoever waits for it gives up after its
// patience. So a server that restarts or fails over costs time, and no job.
//
// @unchecked: `connection` and `mayPrepare` are used on `queue` only.
final class ConnectionQueue: @unchecked Sendable {
    /// How long a call waits for a server that cannot be reached.
    static let patience = Duration.seconds(15)
    private static let pauses = (first: 0.05, longest: 1.0)

    let url: DatabaseURL
    private let queue: DispatchQueue
    private var connection: Connection?
    /// False after a prepared statement was not there.
    private var mayPrepare = true
    private let waiting = Atomic(0)

    /// `connection` is one that nobody else uses.
    init(_ url: DatabaseURL, name: String, adopting connection: Connection? = nil) {
        self.url = url
        self.connection = connection
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

    /// Waits for everything that was asked of the queue before. For a program that exits.
    func drain() { queue.sync {} }

    /// Calls a body with a connection, on the queue. If it loses the connection, it is called again with another; it must
    /// not have committed anything then.
    func withConnection<Value>(_ body: (Connection) throws -> Value) throws -> Value {
        let deadline = ContinuousClock.now + Self.patience
        var pause = Self.pauses.first
        while true {
            do {
                return try body(try connect())
            } catch let error as DatabaseError where error.isConnectionLost {
                disconnect()
                if error.isUnknownStatement { mayPrepare = false }
                guard ContinuousClock.now < deadline else { throw error }
                usleep(UInt32(pause * 1_000_000 * Double.random(in: 0.5...1.5)))
                pause = min(pause * 2, Self.pauses.longest)
            }
        }
    }

    /// The connection, made if there is none.
    func connect() throws -> Connection {
        if let connection, connection.isUsable { return connection }
        connection = nil
        let made = try Connection(url, mayPrepare: mayPrepare)
        connection = made
        return made
    }

    /// Drops a connection whose state is unknown; the server rolls its transaction back.
    func disconnect() { connection = nil }
}
