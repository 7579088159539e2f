internal import CameoModel
package import CameoQueue
internal import CameoStore
package import Foundation
internal import GRDB
internal import GRDBSQLite

/// A transaction on one connection.
package final class SQLiteTransaction: QueueTransaction {
    package static let dialect = Dialect.sqlite(waits: SQLiteStore.waitsForAcceptance)

    /// The connection, for what only GRDB says.
    let sqlite: Database
    package let now: Int64
    package var ledger = Ledger()

    let clock: StoreClock
    let directory: StoreDirectory

    init(_ sqlite: Database, _ directory: StoreDirectory, clock: StoreClock) {
        (self.sqlite, self.directory, self.clock) = (sqlite, directory, clock)
        now = clock.now().milliseconds
    }

    /// Runs a statement, which the connection keeps compiled; its parameters are `?`, or `?1`, `?2`, ….
    package func query(_ sql: String, _ values: [(any SQLBindable)?]) throws -> [SQLiteRow] {
        var rows: [SQLiteRow] = []
        try run(sql, values) { row in
            rows.append(row)
            return true
        }
        return rows
    }

    @discardableResult
    package func execute(_ sql: String, _ values: [(any SQLBindable)?]) throws -> Int {
        try run(sql, values) { _ in true }
        return sqlite.changesCount
    }

    package func tasks(_ rest: String, _ values: [(any SQLBindable)?]) throws -> [TaskRow] {
        try query("SELECT \(TaskRow.columns) FROM task \(rest)", values).map { try TaskRow($0) }
    }

    /// Binds, steps and reads by SQLite's own calls: GRDB's rows cost more than the statements, of which each job takes some
    /// thirty. Before GRDB uses the statement again, it resets it. `body` returns whether to go on.
    func run(_ sql: String, _ values: [(any SQLBindable)?], _ body: (SQLiteRow) throws -> Bool) throws {
        let statement = try sqlite.cachedStatement(sql: sql)
        let handle = statement.sqliteStatement
        defer { sqlite3_reset(handle) }
        sqlite3_reset(handle)
        for (index, value) in values.enumerated() { try bind(value?.sqlValue, CInt(index + 1), handle, sql) }
        while true {
            switch sqlite3_step(handle) {
            case SQLITE_ROW:
                let row = (0..<sqlite3_column_count(handle)).map { Self.value($0, handle) }
                guard try body(SQLiteRow(columns: statement.columnNames, values: row)) else { return }
            case SQLITE_DONE: return
            case let code: throw failure(code, sql)
            }
        }
    }

    private func bind(_ value: SQLValue?, _ index: CInt, _ handle: OpaquePointer, _ sql: String) throws {
        // SQLite copies what it gets.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        func bind(text: String) -> CInt {
            var text = text
            guard !text.isEmpty else { return sqlite3_bind_text(handle, index, "", 0, transient) }
            return text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { characters in
                    sqlite3_bind_text(handle, index, characters.baseAddress, CInt(characters.count), transient)
                }
            }
        }
        let code =
            switch value {
            case nil: sqlite3_bind_null(handle, index)
            case .integer(let number): sqlite3_bind_int64(handle, index, number)
            case .real(let number): sqlite3_bind_double(handle, index, number)
            case .truth(let truth): sqlite3_bind_int64(handle, index, truth ? 1 : 0)
            case .text(let text): bind(text: text)
            case .bytes(let data):
                data.isEmpty
                    ? sqlite3_bind_zeroblob(handle, index, 0)
                    : data.withUnsafeBytes {
                        sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), transient)
                    }
            case .integers(let numbers): bind(text: "[\(numbers.map(String.init).joined(separator: ","))]")
            case .texts(let texts): bind(text: JSONValue.array(texts.map(JSONValue.string)).canonicalText)
            case .written(let list): bind(text: String(decoding: list, as: UTF8.self))
            }
        guard code == SQLITE_OK else { throw failure(code, sql) }
    }

    private static func value(_ column: CInt, _ handle: OpaquePointer) -> SQLValue? {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT:
            let start = sqlite3_column_text(handle, column)
            let text = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
            return .text(String(decoding: text, as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(handle, column)
            return .bytes(start.map { Data(bytes: $0, count: Int(sqlite3_column_bytes(handle, column))) } ?? Data())
        default: return nil
        }
    }

    private func failure(_ code: CInt, _ sql: String) -> DatabaseError {
        let connection = sqlite.sqliteConnection
        return DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: sqlite3_errmsg(connection).map { String(cString: $0) } ?? "SQLite error \(code)",
            sql: sql
        )
    }

    /// History is written at once.
    package func flushHistory() {}

    package func hasArrivals() throws -> Bool {
        try value("SELECT max(id) FROM job") ?? 0 > SQLiteStore.acceptedThrough(self)
    }

    func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        try sqlite.execute(sql: sql, arguments: arguments)
    }

    package func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        let before = ledger
        do {
            var value: Value?
            try sqlite.inSavepoint {
                value = try body()
                return .commit
            }
            guard let value else { throw StoreError.failed("a savepoint was not run") }
            return value
        } catch {
            ledger = before
            throw error
        }
    }
}

/// A row of a result, which outlives its statement. A value of another type than the one that is read is an error, so that no
/// row stops the process.
package struct SQLiteRow: QueueRow {
    fileprivate let columns: [String]
    fileprivate let values: [SQLValue?]

    package func place(of column: String) throws -> Int {
        guard let place = columns.firstIndex(of: column) else {
            throw StoreError.failed("a statement has no column \"\(column)\"")
        }
        return place
    }

    private func value(_ column: Int) throws -> SQLValue? {
        guard column < values.count else { throw StoreError.failed("a statement has no column \(column)") }
        return values[column]
    }

    private func isOther(_ type: String, _ column: Int) -> StoreError {
        .failed("column \"\(columns[column])\" is not \(type)")
    }

    package func integer(_ column: Int) throws -> Int64? {
        switch try value(column) {
        case nil: nil
        case .integer(let number): number
        default: throw isOther("an integer", column)
        }
    }

    package func real(_ column: Int) throws -> Double? {
        switch try value(column) {
        case nil: nil
        case .integer(let number): Double(number)
        case .real(let number): number
        default: throw isOther("a number", column)
        }
    }

    package func truth(_ column: Int) throws -> Bool? { try integer(column).map { $0 != 0 } }

    package func text(_ column: Int) throws -> String? {
        switch try value(column) {
        case nil: nil
        case .text(let text): text
        default: throw isOther("text", column)
        }
    }

    package func bytes(_ column: Int) throws -> Data? {
        switch try value(column) {
        case nil: nil
        case .bytes(let data): data
        case .text(let text): Data(text.utf8)
        default: throw isOther("bytes", column)
        }
    }
}
