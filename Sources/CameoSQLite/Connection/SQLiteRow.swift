internal import CSQLite
internal import CameoQueue
internal import CameoStore
package import Foundation

/// A row of a result, which outlives its statement. A value of another type than the one that is read is an error, so that no
/// row stops the process.
package struct SQLiteRow: QueueRow {
    private let columns: SQLiteColumns
    private let values: [SQLValue?]

    /// The row that a statement has reached.
    init(of statement: OpaquePointer, _ columns: SQLiteColumns) {
        self.columns = columns
        values = (0..<CInt(columns.names.count)).map { Self.value($0, statement) }
    }

    private static func value(_ column: CInt, _ statement: OpaquePointer) -> SQLValue? {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            let start = sqlite3_column_text(statement, column)
            let text = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
            return .text(String(decoding: text, as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(statement, column)
            return .bytes(start.map { Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, column))) } ?? Data())
        default: return nil
        }
    }

    package func place(of column: String) throws -> Int {
        guard let place = columns.places[column] else {
            throw StoreError.failed("a statement has no column \"\(column)\"")
        }
        return place
    }

    /// A value as another type, whose name is for the error.
    private func read<Value>(_ column: Int, as type: String, _ read: (SQLValue) -> Value?) throws -> Value? {
        guard column < values.count else { throw StoreError.failed("a statement has no column \(column)") }
        guard let value = values[column] else { return nil }
        guard let result = read(value) else {
            throw StoreError.failed("column \"\(columns.names[column])\" is not \(type)")
        }
        return result
    }

    package func integer(_ column: Int) throws -> Int64? {
        try read(column, as: "an integer") { if case .integer(let number) = $0 { number } else { nil } }
    }

    package func real(_ column: Int) throws -> Double? {
        try read(column, as: "a number") { value in
            switch value {
            case .integer(let number): Double(number)
            case .real(let number): number
            default: nil
            }
        }
    }

    package func truth(_ column: Int) throws -> Bool? { try integer(column).map { $0 != 0 } }

    package func text(_ column: Int) throws -> String? {
        try read(column, as: "text") { if case .text(let text) = $0 { text } else { nil } }
    }

    package func bytes(_ column: Int) throws -> Data? {
        try read(column, as: "bytes") { value in
            switch value {
            case .bytes(let data): data
            case .text(let text): Data(text.utf8)
            default: nil
            }
        }
    }
}

/// The columns of a statement's rows, read once after it is compiled.
final class SQLiteColumns: Sendable {
    let names: [String]
    /// The first place of each name.
    let places: [String: Int]

    init(of statement: OpaquePointer) {
        names = (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_name(statement, column).map { String(cString: $0) } ?? ""
        }
        places = Dictionary(zip(names, 0...)) { first, _ in first }
    }
}
