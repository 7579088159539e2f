internal import CPostgreSQL
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

    /// The state of a server that is starting or stopping.
    static let notNow = "57P03"

    init(_ message: String, state: String = "", constraint: String? = nil, isConnectionLost: Bool = false) {
        self.message = message
        self.state = state
        self.constraint = constraint
        // Also where the server ends the connection with this error, or another server has to be found: one that has become a
        // standby, or is starting or stopping; one that has no connection left.
        let states: Set = ["25006", "25P03", "53300", "57P01", "57P02", Self.notNow, "57P05"]
        self.isConnectionLost = isConnectionLost || state.hasPrefix("08") || states.contains(state)
    }

    var description: String { state.isEmpty ? message : "\(message) (\(state))" }

    /// Whether the same transaction is likely to succeed if it runs again, because it collided with another.
    var isCollision: Bool {
        ["40001", "40P01"].contains(state) || state == "23505" && constraint == "task_unique"
    }

    var isMissingTable: Bool { state == "42P01" || state == "3F000" }

    /// Whether a prepared statement is not there.
    var isUnknownStatement: Bool { state == "26000" }

    /// Whether a prepared statement is no longer what it was, because its columns changed.
    var isChangedStatement: Bool { state == "0A000" }

    /// Whether a lock was not granted in time.
    var isUnavailableLock: Bool { state == "55P03" }

    /// Whether the error concerns the values of one row rather than the database or server.
    var concernsOneRow: Bool {
        !isConnectionLost && !isCollision
            && (state.hasPrefix("22") || state.hasPrefix("23") || state == "54000" || state == "54001")
    }
}

extension StoreError {
    /// `location` is the store's, without a password.
    init(_ error: any Error, location: String) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error, location: location)
        default: self = .failed(String(describing: error))
        }
    }

    private init(_ error: DatabaseError, location: String) {
        switch error.state {
        case "25006": self = .readOnly(path: location)
        case "53100": self = .full(path: location)
        case "55P03", "57014", "40001", "40P01": self = .busy(path: location)
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
