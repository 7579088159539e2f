internal import CameoModel
package import CameoQueue
internal import CameoStore

/// A transaction on one connection.
package final class SQLiteTransaction: QueueTransaction {
    package static let dialect: any Dialect = SQLiteDialect()

    let connection: SQLiteConnection
    package let now: Int64
    package var ledger = Ledger()

    let clock: StoreClock
    let directory: StoreDirectory

    init(_ connection: SQLiteConnection, _ directory: StoreDirectory, clock: StoreClock) {
        (self.connection, self.directory, self.clock) = (connection, directory, clock)
        now = clock.now().milliseconds
    }

    package func query(_ sql: String, _ values: [(any SQLBindable)?]) throws -> [QueueRow] {
        try connection.rows(sql, values)
    }

    @discardableResult
    package func execute(_ sql: String, _ values: [(any SQLBindable)?]) throws -> Int {
        try connection.execute(sql, values)
    }

    /// Only one process writes at a time.
    package var lockingOfTasks: String { "" }

    /// History is written at once.
    package func flushHistory() {}

    package func hasArrivals() throws -> Bool {
        try value("SELECT max(id) FROM job") ?? 0 > SQLiteStore.acceptedThrough(self)
    }

    package func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        let before = ledger
        do {
            return try connection.inSavepoint(body)
        } catch {
            ledger = before
            throw error
        }
    }
}
