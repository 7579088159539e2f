internal import CameoModel
package import CameoQueue
internal import CameoStore
package import Foundation
internal import GRDB

/// A transaction on one connection, for the body of a read or a commit. It blocks, and must not leave the body.
package final class SQLiteTransaction: QueueTransaction {
    package static let dialect = Dialect.sqlite(
        waits: SQLiteStore.waitsForAcceptance,
        dueByRequest: Schema.dueByRequest
    )

    /// The connection, for what only GRDB says.
    let sqlite: Database
    /// The time of the transaction in milliseconds since 1970.
    package let now: Int64
    /// What the transaction has changed and not written yet.
    var ledger = Ledger()

    let clock: StoreClock
    let directory: StoreDirectory

    init(_ sqlite: Database, _ directory: StoreDirectory, clock: StoreClock) {
        self.sqlite = sqlite
        self.directory = directory
        self.clock = clock
        now = clock.now().milliseconds
    }

    /// Runs a statement, which the connection keeps compiled; its parameters are `?`, or `?1`, `?2`, ….
    package func query(_ sql: String, _ values: [(any SQLBindable)?]) throws -> [SQLiteRow] {
        let statement = try sqlite.cachedStatement(sql: sql)
        let columns = statement.columnNames
        return try GRDB.Row.fetchAll(statement, arguments: arguments(values)).map {
            SQLiteRow(row: $0, columns: columns)
        }
    }

    @discardableResult
    package func execute(_ sql: String, _ values: [(any SQLBindable)?]) throws -> Int {
        try sqlite.cachedStatement(sql: sql).execute(arguments: arguments(values))
        return sqlite.changesCount
    }

    /// History is written at once.
    package func flushHistory() {}

    package func hasArrivals() throws -> Bool { try SQLiteStore.hasArrivals(self) }

    func arguments(_ values: [(any SQLBindable)?]) -> StatementArguments {
        StatementArguments(values.map { $0?.sqlValue.databaseValue ?? DatabaseValue.null })
    }

    /// The number of rows that the last statement inserted, updated or deleted.
    var changesCount: Int { sqlite.changesCount }
    var lastInsertedRowID: Int64 { sqlite.lastInsertedRowID }

    /// A statement that the connection keeps compiled.
    func cachedStatement(sql: String) throws -> Statement { try sqlite.cachedStatement(sql: sql) }

    func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        try sqlite.execute(sql: sql, arguments: arguments)
    }

    /// Runs a body whose error undoes what it did, and nothing else.
    func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        let before = ledger
        var result: Result<Value, any Error>?
        do {
            try sqlite.inSavepoint {
                let value = try body()
                result = .success(value)
                return .commit
            }
        } catch {
            ledger = before
            result = .failure(error)
        }
        guard let result else { throw StoreError.failed("a savepoint was not run") }
        return try result.get()
    }
}

extension SQLValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .truth(let truth): truth.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let data): data.databaseValue
        case .integers(let numbers): "[\(numbers.map(String.init).joined(separator: ","))]".databaseValue
        case .texts(let texts): JSONValue.array(texts.map(JSONValue.string)).canonicalText.databaseValue
        case .written(let list): String(decoding: list, as: UTF8.self).databaseValue
        }
    }
}

/// A row of a result. A value of another type than the one that is read is an error, so that no row stops the process.
package struct SQLiteRow: QueueRow {
    let row: GRDB.Row
    let columns: [String]

    package func place(of column: String) throws -> Int {
        guard let place = columns.firstIndex(of: column) else {
            throw StoreError.failed("a statement has no column \"\(column)\"")
        }
        return place
    }

    private func storage(_ column: Int) throws -> DatabaseValue.Storage {
        guard column < row.count else { throw StoreError.failed("a statement has no column \(column)") }
        return (row[column] as DatabaseValue).storage
    }

    private func other(_ column: Int, _ type: String) -> StoreError {
        .failed("column \"\(columns[column])\" is not \(type)")
    }

    package func integer(_ column: Int) throws -> Int64? {
        switch try storage(column) {
        case .null: nil
        case .int64(let number): number
        default: throw other(column, "an integer")
        }
    }

    package func real(_ column: Int) throws -> Double? {
        switch try storage(column) {
        case .null: nil
        case .int64(let number): Double(number)
        case .double(let number): number
        default: throw other(column, "a number")
        }
    }

    package func truth(_ column: Int) throws -> Bool? { try integer(column).map { $0 != 0 } }

    package func text(_ column: Int) throws -> String? {
        switch try storage(column) {
        case .null: nil
        case .string(let text): text
        default: throw other(column, "text")
        }
    }

    package func bytes(_ column: Int) throws -> Data? {
        switch try storage(column) {
        case .null: nil
        case .blob(let data): data
        case .string(let text): Data(text.utf8)
        default: throw other(column, "bytes")
        }
    }
}
