internal import CPostgreSQL
internal import CameoModel
internal import CameoQueue
internal import CameoStore

/// An error of a statement or connection. Decisions go by its SQLSTATE
/// (https://www.postgresql.org/docs/current/errcodes-appendix.html), never by its message.
struct DatabaseError: Error, CustomStringConvertible {
    /// The SQLSTATE; empty if libpq itself failed.
    let state: String
    let message: String
    let constraint: String?
    /// Whether the connection is gone, or useless.
    let isConnectionLost: Bool

    init(_ message: String, state: String = "", constraint: String? = nil, isConnectionLost: Bool = false) {
        (self.message, self.state, self.constraint) = (message, state, constraint)
        self.isConnectionLost = isConnectionLost || Remedy(state, constraint) == .reconnecting
    }

    var description: String { state.isEmpty ? message : "\(message) (\(state))" }

    /// What helps. Libpq's own errors have no state.
    var remedy: Remedy { Remedy(state, constraint) ?? (isConnectionLost ? .reconnecting : .nothing) }

    /// Whether the transaction collided with another.
    var isCollision: Bool { remedy == .again(atMost: Remedy.collisions) }

    /// Whether the database is no longer there: this error ends a program.
    var isOfDroppedDatabase: Bool { state == "57P04" || state == "3D000" }

    var isMissingTable: Bool { state == "42P01" || state == "3F000" }

    /// Whether a prepared statement is not there.
    var isUnknownStatement: Bool { state == "26000" }

    /// Whether a prepared statement is no longer what it was, because its columns changed.
    var isChangedStatement: Bool { state == "0A000" }

    /// Whether a lock was not granted in time.
    var isUnavailableLock: Bool { state == "55P03" }

    /// Whether the error concerns the values of one row rather than the database or server.
    var concernsOneRow: Bool {
        !isConnectionLost && remedy == .nothing
            && (state.hasPrefix("22") || state.hasPrefix("23") || state == "54000" || state == "54001")
    }
}

/// What is done about an error of the server: the one table, by which all transactions and the opening go. The listener,
/// which commits nothing, connects again after any error.
enum Remedy: Equatable {
    /// The same transaction again, so often.
    case again(atMost: Int)
    /// The same transaction again on another connection, for as long as calls wait for a server that is away.
    case reconnecting
    /// Who called is told.
    case nothing

    static let collisions = 8
    /// How often a transaction begins again so that others go before it (``LockPatience/yielding``).
    static let yields = 3

    /// Nil: the state says nothing of its own.
    init?(_ state: String, _ constraint: String?) {
        switch state {
        // Two transactions changed the same rows, or locked each other out, or entered the same request.
        case "40001", "40P01": self = .again(atMost: Self.collisions)
        case "23505" where constraint == "task_unique": self = .again(atMost: Self.collisions)
        // Somebody cancelled the statement, or it took longer than `statement_timeout`.
        case "57014": self = .again(atMost: 3)
        // A lock was not granted in time: longer than ``LockPatience/whole`` nothing of Cameo's holds one.
        case "55P03": self = .again(atMost: Self.yields + 2)
        // The server ended the connection: by hand or because it stops, has crashed, or starts; because the session was idle,
        // its transaction was idle, or its transaction took too long (since PostgreSQL 17). Or it has become a standby, or has
        // no connection left.
        case "57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "25006", "53300": self = .reconnecting
        case "57P04", "3D000": self = .nothing
        case _ where state.hasPrefix("08"): self = .reconnecting
        default: return nil
        }
    }
}

/// How often a call was made again.
struct Repetition {
    private static let pauses = RetryPolicy(base: .milliseconds(4), cap: .milliseconds(512), jitter: 1)

    /// How long the server may be away. It counts from the first loss: what ran before may have taken long.
    let patience: Duration
    private var counts: [String: Int] = [:]
    private var end: ContinuousClock.Instant?

    init(patience: Duration) { self.patience = patience }

    /// What is left of the patience.
    var rest: Duration { end.map { ContinuousClock.now.duration(to: $0) } ?? patience }

    /// Blocks until the call may be made again.
    ///
    /// - Throws: the error, if it must not be.
    mutating func wait(after error: DatabaseError) throws {
        let remedy = error.remedy
        let count = counts[remedy == .reconnecting ? "" : error.state, default: 0] + 1
        counts[remedy == .reconnecting ? "" : error.state] = count
        switch remedy {
        case .again(let limit):
            guard count <= limit else { throw error }
            Self.pauses.wait(afterFailures: count)
        case .reconnecting:
            end = end ?? .now + patience
            // Less is too little for another attempt.
            guard rest > .seconds(1) else { throw error }
            RetryPolicy.reconnecting.wait(afterFailures: count)
        case .nothing: throw error
        }
    }
}

extension StoreError {
    /// `location` is the store's, without a password.
    init(_ error: any Error, location: String) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error, location: location)
        case let error as UnknownOutcome: self = .uncertain(location: location, reason: error.reason)
        default: self = .failed(String(describing: error))
        }
    }

    private init(_ error: DatabaseError, location: String) {
        switch error.state {
        case "25006": self = .readOnly(path: location)
        case "53100": self = .full(path: location)
        case "55P03", "40001", "40P01": self = .busy(path: location)
        case "57014": self = .cancelled(path: location)
        case _ where error.isOfDroppedDatabase: self = .cannotOpen(path: location, reason: error.message)
        case "XX001", "XX002":
            self = .failed("the database is damaged: \(error.message). `pg_amcheck` says where; restore a backup of it")
        // A role that lacks a right.
        case "42501": self = .denied(location: location, reason: error.message)
        case _ where error.isConnectionLost: self = .unreachable(location: location, reason: error.message)
        // A value that breaks a rule of the tables, or that the database cannot hold ("\u0000").
        case let state where state.hasPrefix("22") || state.hasPrefix("23"): self = .refused(reason: error.message)
        default: self = .failed(error.description)
        }
    }
}
