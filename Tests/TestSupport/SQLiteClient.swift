internal import CSQLite
internal import Foundation

/// Another program that uses a database, by libsqlite3 with its default settings. It may leave a transaction open.
package final class SQLiteClient: Sendable {
    /// What SQLite says of a statement that failed.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// SQLite itself lets one thread at a time use it.
    private nonisolated(unsafe) let connection: OpaquePointer?

    package init(_ path: String) throws {
        var opened: OpaquePointer?
        let code = sqlite3_open(path, &opened)
        connection = opened
        if code != SQLITE_OK { throw failure() }
    }

    deinit { sqlite3_close_v2(connection) }

    /// Runs statements, the parameters of which are `values`, and returns all rows as text; nil is NULL.
    @discardableResult
    package func run(_ script: String, _ values: [Any?] = []) throws -> [[String?]] {
        try script.withCString { text in
            var (next, rows): (UnsafePointer<CChar>?, [[String?]]) = (text, [])
            while let start = next, start.pointee != 0 {
                var statement: OpaquePointer?
                guard sqlite3_prepare_v2(connection, start, -1, &statement, &next) == SQLITE_OK else { throw failure() }
                defer { sqlite3_finalize(statement) }
                if statement == nil { continue }
                for (index, value) in values.prefix(Int(sqlite3_bind_parameter_count(statement))).enumerated() {
                    guard bind(value, CInt(index + 1), statement) == SQLITE_OK else { throw failure() }
                }
                var code = sqlite3_step(statement)
                while code == SQLITE_ROW {
                    rows.append(
                        (0..<sqlite3_column_count(statement)).map { column in
                            sqlite3_column_text(statement, column).map { String(cString: $0) }
                        }
                    )
                    code = sqlite3_step(statement)
                }
                if code != SQLITE_DONE { throw failure() }
            }
            return rows
        }
    }

    private func bind(_ value: Any?, _ place: CInt, _ statement: OpaquePointer?) -> CInt {
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case let number as Int: return sqlite3_bind_int64(statement, place, Int64(number))
        case let number as Int64: return sqlite3_bind_int64(statement, place, number)
        case let text as String: return sqlite3_bind_text(statement, place, text, CInt(text.utf8.count), copied)
        case let data as Data: return sqlite3_bind_blob(statement, place, Array(data), CInt(data.count), copied)
        default: return sqlite3_bind_null(statement, place)
        }
    }

    private func failure() -> Failure { Failure(description: String(cString: sqlite3_errmsg(connection))) }
}
