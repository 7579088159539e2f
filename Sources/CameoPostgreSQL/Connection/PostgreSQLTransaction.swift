package import CameoQueue
internal import CameoStore

/// A transaction on one connection.
package final class PostgreSQLTransaction: QueueTransaction {
    package static let dialect: any Dialect = PostgreSQLDialect()
    /// The time of the transaction in milliseconds since 1970: the server's, or that of the clock that the store was
    /// given.
    package var now: Int64 { opening.now }
    let opening: Opening
    package var ledger = Ledger()
    var unwritten = Unwritten()
    /// What the first operation of the transaction looked up beforehand, which takes it.
    var look: QueryResult?
    private let connection: Connection
    private var savepoints = 0

    init(_ connection: Connection, _ opening: Opening) {
        (self.connection, self.opening) = (connection, opening)
    }

    /// Runs a statement; its parameters are `$1`, `$2`, …, or `?1`, `?2`, … of a rule of the queue.
    package func query(_ sql: String, _ values: [(any SQLBindable)?]) throws -> [QueueRow] { try run(sql, values).rows }

    package func query(_ sql: String, _ values: [(any SQLBindable)?] = [], prepared: Bool) throws -> [QueueRow] {
        try connection.run(sql, values, prepared: prepared).rows
    }

    @discardableResult
    package func execute(_ sql: String, _ values: [(any SQLBindable)?]) throws -> Int { try run(sql, values).count }

    private func run(_ sql: String, _ values: [(any SQLBindable)?]) throws -> QueryResult {
        try connection.run(Self.numbered(sql), values)
    }

    /// The text of a statement as PostgreSQL numbers its parameters.
    static func numbered(_ sql: String) -> String {
        sql.utf8.contains(UInt8(ascii: "?")) ? sql.replacing("?", with: "$") : sql
    }

    package func hasArrivals() throws -> Bool { try value("SELECT EXISTS (SELECT 1 FROM arrival)") ?? false }

    /// Runs statements for their effects in one round trip.
    ///
    /// - Returns: the number of rows that each inserted, updated or deleted.
    @discardableResult
    func execute(_ statements: [Connection.Statement]) throws -> [Int] {
        statements.isEmpty ? [] : try connection.run(statements).map(\.count)
    }

    /// Runs statements in one round trip.
    func query(_ statements: [Connection.Statement]) throws -> [QueryResult] { try connection.run(statements) }

    /// Waits for a lock that the end of the transaction releases.
    func lock(_ lock: RowLock) throws { while try !take(lock, "FOR UPDATE") {} }

    /// Takes a lock unless another transaction has it.
    func tryLock(_ lock: RowLock) throws -> Bool { try take(lock, "FOR UPDATE SKIP LOCKED") }

    private func take(_ lock: RowLock, _ how: String) throws -> Bool {
        let look = "SELECT 1 FROM total WHERE name = $1"
        if try value("\(look) \(how)", [lock.rawValue]) as Int? != nil { return true }
        guard try value(look, [lock.rawValue]) as Int? == nil else { return false }
        // The first who needs it, or one after a restore that lacks it.
        return try execute("INSERT INTO total VALUES ($1, 0) ON CONFLICT DO NOTHING", [lock.rawValue]) == 1
    }

    package func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        savepoints += 1
        let (name, before) = ("s\(savepoints)", (ledger, unwritten))
        try execute("SAVEPOINT \(name)")
        do {
            let value = try body()
            try execute("RELEASE \(name)")
            return value
        } catch {
            guard connection.isUsable else { throw error }
            try execute([.init("ROLLBACK TO \(name)"), .init("RELEASE \(name)")])
            (ledger, unwritten) = before
            throw error
        }
    }

    /// Runs a body of a transaction that cannot begin again, and where the ``Remedy`` of an error says so runs the body again.
    func repeating<Value>(_ body: () throws -> Value) throws -> Value {
        var repetition = Repetition(patience: .zero)
        while true {
            do {
                return try inSavepoint(body)
            } catch let error as DatabaseError {
                try repetition.wait(after: error)
            }
        }
    }

    /// What is closed is computed by claims.
    package func settle(_ table: LimitedTable, _ id: Int64) {}
}
