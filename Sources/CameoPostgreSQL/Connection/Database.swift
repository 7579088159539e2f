internal import CameoStore
internal import Foundation

/// A transaction on one connection, for the body of a read or a commit. It blocks, and must not leave the body.
final class Database {
    /// The time of the transaction in milliseconds since 1970: the server's, or that of the clock that the store was
    /// given.
    let now: Int64
    let isWriting: Bool
    /// The version of the tables.
    let version: Int
    /// The name of the schema, which is also the search path.
    let schema: String
    /// What the transaction has changed and not written yet.
    var ledger: Ledger
    /// What the first operation of the transaction looked up beforehand.
    private var look: QueryResult?
    private let connection: Connection
    private var savepoints = 0

    init(
        _ connection: Connection,
        _ opening: Opening,
        schema: String,
        isWriting: Bool,
        look: QueryResult? = nil
    ) {
        self.connection = connection
        self.look = look
        self.schema = schema
        self.isWriting = isWriting
        now = opening.now
        version = opening.version
        ledger = Ledger()
    }

    /// The result of the operation's look if that was taken beforehand; nil if the operation has to look.
    func takeLook() -> QueryResult? {
        defer { look = nil }
        return look
    }

    /// Runs a statement; its parameters are `$1`, `$2`, ….
    func query(_ sql: String, _ values: [(any SQLConvertible)?] = [], prepared: Bool = false) throws -> [Row] {
        try connection.run(sql, values, prepared: prepared).rows
    }

    /// Runs a statement that returns at most one row of interest.
    func row(_ sql: String, _ values: [(any SQLConvertible)?] = []) throws -> Row? {
        try query(sql, values).first
    }

    /// Runs a statement that returns one column, and reads it as a list.
    func column<Value: SQLConvertible>(_ sql: String, _ values: [(any SQLConvertible)?] = []) throws -> [Value] {
        try query(sql, values).map { try $0[0] }
    }

    /// Runs a statement that returns one column, and reads its first value; nil if there is no row or it is NULL.
    func value<Value: SQLConvertible>(_ sql: String, _ values: [(any SQLConvertible)?] = []) throws -> Value? {
        try row(sql, values)?[0]
    }

    /// Runs a statement for its effect.
    ///
    /// - Returns: the number of rows that it inserted, updated or deleted.
    @discardableResult
    func execute(_ sql: String, _ values: [(any SQLConvertible)?] = []) throws -> Int {
        try connection.run(sql, values).count
    }

    /// Runs statements for their effects in one round trip.
    ///
    /// - Returns: the number of rows that each inserted, updated or deleted.
    @discardableResult
    func execute(_ statements: [Connection.Statement]) throws -> [Int] {
        statements.isEmpty ? [] : try connection.run(statements).map(\.count)
    }

    /// Waits for a lock that the end of the transaction releases.
    func lock(_ lock: AdvisoryLock) throws {
        try execute("SELECT pg_advisory_xact_lock(\(lock.arguments(schema: schema)))")
    }

    /// Keeps queues, keys, lanes and batches from being removed until the end of the transaction.
    func holdNames() throws {
        guard !ledger.holdsNames else { return }
        try execute("SELECT pg_advisory_xact_lock_shared(\(AdvisoryLock.names.arguments(schema: schema)))")
        ledger.holdsNames = true
    }

    /// Takes a lock unless another transaction has it.
    func tryLock(_ lock: AdvisoryLock) throws -> Bool {
        try value("SELECT pg_try_advisory_xact_lock(\(lock.arguments(schema: schema)))") ?? false
    }

    /// Runs a body whose error undoes what it did, and nothing else.
    func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        savepoints += 1
        let (name, before) = ("s\(savepoints)", ledger)
        try execute("SAVEPOINT \(name)")
        do {
            let value = try body()
            try execute("RELEASE \(name)")
            return value
        } catch {
            guard connection.isUsable else { throw error }
            try execute([.init("ROLLBACK TO \(name)"), .init("RELEASE \(name)")])
            ledger = before
            throw error
        }
    }
}
