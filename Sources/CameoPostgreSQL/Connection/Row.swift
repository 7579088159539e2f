internal import CPostgreSQL
internal import CameoStore
internal import Foundation

/// The result of a statement; owns libpq's.
final class QueryResult {
    private let result: OpaquePointer

    init(adopting result: OpaquePointer) {
        self.result = result
    }

    deinit { PQclear(result) }

    var rows: [Row] { (0..<Int(PQntuples(result))).map { Row(result: self, index: CInt($0)) } }

    /// The number of rows that the statement inserted, updated, deleted or returned.
    var count: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// The command tag, such as `COMMIT`.
    var command: String { String(cString: PQcmdStatus(result)) }

    fileprivate func read<Value: SQLConvertible>(_ row: CInt, _ column: Int) throws -> Value? {
        guard column < PQnfields(result) else { throw StoreError.failed("a statement has no column \(column)") }
        guard PQgetisnull(result, row, CInt(column)) == 0, let text = PQgetvalue(result, row, CInt(column)) else {
            return nil
        }
        guard let value = Value.read(text, count: Int(PQgetlength(result, row, CInt(column)))) else {
            let name = PQfname(result, CInt(column)).map { String(cString: $0) } ?? "\(column)"
            throw StoreError.failed("column \"\(name)\" is not of type \(Value.self)")
        }
        return value
    }
}

/// A row of a result. It may outlive its transaction.
struct Row {
    fileprivate let result: QueryResult
    fileprivate let index: CInt

    /// A column that is not NULL.
    subscript<Value: SQLConvertible>(column: Int) -> Value {
        get throws {
            guard let value: Value = try result.read(index, column) else {
                throw StoreError.failed("column \(column) of a statement is NULL")
            }
            return value
        }
    }

    subscript<Value: SQLConvertible>(column: Int) -> Value? {
        get throws { try result.read(index, column) }
    }
}
