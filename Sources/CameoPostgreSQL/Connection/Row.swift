internal import CPostgreSQL
internal import CameoQueue
internal import CameoStore
package import Foundation

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

    fileprivate func place(of column: String) throws -> Int {
        let place = PQfnumber(result, column)
        guard place >= 0 else { throw StoreError.failed("a statement has no column \"\(column)\"") }
        return Int(place)
    }

    /// Reads the text form of a column; nil if it is NULL. The closure's value is nil for malformed text.
    fileprivate func read<Value>(
        _ row: CInt,
        _ column: Int,
        _ value: (_ text: UnsafePointer<CChar>, _ count: Int) -> Value?
    ) throws -> Value? {
        guard column < PQnfields(result) else { throw StoreError.failed("a statement has no column \(column)") }
        guard PQgetisnull(result, row, CInt(column)) == 0, let text = PQgetvalue(result, row, CInt(column)) else {
            return nil
        }
        guard let value = value(text, Int(PQgetlength(result, row, CInt(column)))) else {
            let name = PQfname(result, CInt(column)).map { String(cString: $0) } ?? "\(column)"
            throw StoreError.failed("column \"\(name)\" is not of type \(Value.self)")
        }
        return value
    }
}

package struct Row: QueueRow {
    fileprivate let result: QueryResult
    fileprivate let index: CInt

    package func place(of column: String) throws -> Int { try result.place(of: column) }

    /// Reads digits in place: most columns are numbers.
    package func integer(_ column: Int) throws -> Int64? {
        try result.read(index, column) { text, count in
            var end: UnsafeMutablePointer<CChar>?
            errno = 0
            let number = strtoll(text, &end, 10)
            return count > 0 && end.map { UnsafePointer($0) } == text + count && errno == 0 ? Int64(number) : nil
        }
    }

    package func real(_ column: Int) throws -> Double? {
        try result.read(index, column) { text, _ in Double(String(cString: text)) }
    }

    package func truth(_ column: Int) throws -> Bool? {
        try result.read(index, column) { text, _ in
            switch UInt8(bitPattern: text[0]) {
            case UInt8(ascii: "t"): true
            case UInt8(ascii: "f"): false
            default: nil
            }
        }
    }

    package func text(_ column: Int) throws -> String? {
        try result.read(index, column) { text, _ in String(validatingCString: text) }
    }

    /// Reads the hexadecimal form of `bytea` ("\x…").
    package func bytes(_ column: Int) throws -> Data? {
        try result.read(index, column) { text, count in
            guard count >= 2, count % 2 == 0, text[0] == 0x5C, text[1] == 0x78 else { return nil }
            var data = Data(count: (count - 2) / 2)
            let isRead = data.withUnsafeMutableBytes { bytes in
                for index in bytes.indices {
                    guard let high = Self.digit(text[2 + 2 * index]), let low = Self.digit(text[3 + 2 * index]) else {
                        return false
                    }
                    bytes[index] = high << 4 | low
                }
                return true
            }
            return isRead ? data : nil
        }
    }

    private static func digit(_ character: CChar) -> UInt8? {
        let byte = UInt8(bitPattern: character)
        switch byte {
        case 0x30...0x39: return byte - 0x30
        case 0x61...0x66: return byte - 0x57
        default: return nil
        }
    }
}

/// Rows that one statement inserts: each column is a parameter, a list of what the rows have there.
enum RowLists {
    /// The rows, for FROM, as `new`.
    static func source(_ columns: [RecordField]) -> String {
        let lists = columns.enumerated().map { index, column in
            let type =
                switch column.kind {
                case .integer: "bigint"
                case .truth: "boolean"
                case .real, .text, .json, .bytes: "text"
                }
            return "$\(index + 1)::\(type)[]"
        }
        return "unnest(\(lists.list)) AS new(\(columns.map(\.name).list))"
    }

    static func selection(_ columns: [RecordField]) -> String {
        columns.map { $0.kind == .json ? "\($0.name)::json" : $0.name }.list
    }

    static func insertion(of columns: [RecordField], into table: String) -> String {
        "INSERT INTO \(table)(\(columns.map(\.name).list)) SELECT \(selection(columns)) FROM \(source(columns))"
    }

    static func values(_ rows: [[(any SQLBindable)?]]) -> [(any SQLBindable)?] {
        (rows.first ?? []).indices.map { column in SQLArray(values: rows.map { $0[column]?.sqlValue }) }
    }
}

/// Arrays are parameters only: a list of any length is one parameter, as in `= ANY($1::bigint[])` and `unnest`.
struct SQLArray: SQLBindable {
    let sqlValue: SQLValue

    init<Number: BinaryInteger>(_ numbers: some Sequence<Number>) { self.init(numbers.map(Optional.some)) }

    init<Number: BinaryInteger>(_ numbers: some Sequence<Number?>) {
        self.init(items: numbers) { number, list in list += String(number).utf8 }
    }

    init(_ texts: some Sequence<String?>) { self.init(items: texts, Self.append) }

    init(_ texts: some Sequence<String>) { self.init(texts.map(Optional.some)) }

    init(_ truths: some Sequence<Bool>) {
        self.init(items: truths.map(Optional.some)) { truth, list in list += (truth ? "t" : "f").utf8 }
    }

    fileprivate init(values: [SQLValue?]) {
        self.init(items: values) { value, list in
            switch value {
            case .integer(let number): list += String(number).utf8
            case .real(let number): list += String(number).utf8
            case .truth(let truth): list += (truth ? "t" : "f").utf8
            case .text(let text): Self.append(text, &list)
            // There are no lists of them.
            case .bytes, .integers, .texts, .written: list += "NULL".utf8
            }
        }
    }

    private static func append(_ text: String, _ list: inout [UInt8]) {
        let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        list.append(quote)
        for byte in text.utf8 {
            if byte == quote || byte == escape { list.append(escape) }
            list.append(byte)
        }
        list.append(quote)
    }

    private init<Item>(items: some Sequence<Item?>, _ append: (Item, inout [UInt8]) -> Void) {
        var list = [UInt8(ascii: "{")]
        list.reserveCapacity(16 * items.underestimatedCount)
        for item in items {
            if list.count > 1 { list.append(UInt8(ascii: ",")) }
            if let item { append(item, &list) } else { list += "NULL".utf8 }
        }
        list.append(UInt8(ascii: "}"))
        sqlValue = .written(list)
    }
}
