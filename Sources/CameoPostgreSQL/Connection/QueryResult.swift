internal import CPostgreSQL
internal import CameoQueue
internal import CameoStore
internal import Foundation

/// The result of a statement; owns libpq's.
final class QueryResult {
    private let result: OpaquePointer

    init(adopting result: OpaquePointer) {
        self.result = result
    }

    deinit { PQclear(result) }

    var rows: [QueueRow] {
        let places = 0..<PQnfields(result)
        let columns = QueueColumns(places.map { PQfname(result, $0).map { String(cString: $0) } ?? "" })
        let types = places.map { PQftype(result, $0) }
        return (0..<PQntuples(result)).map { row in
            QueueRow(columns, places.map { value(row, $0, of: types[Int($0)]) })
        }
    }

    /// The number of rows that the statement inserted, updated, deleted or returned.
    var count: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// The command tag, such as `COMMIT`.
    var command: String { String(cString: PQcmdStatus(result)) }

    /// Reads the text form of a value; nil if it is NULL. The numbers of types are those of PostgreSQL's `pg_type.dat`.
    private func value(_ row: CInt, _ column: CInt, of type: Oid) -> SQLValue? {
        guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else { return nil }
        let text = UnsafeBufferPointer(start: start, count: Int(PQgetlength(result, row, column)))
        return switch type {
        // boolean
        case 16: .truth(text.first == CChar(bitPattern: UInt8(ascii: "t")))
        // bytea
        case 17: .bytes(Self.bytes(text))
        // bigint, smallint, integer, oid, xid8, and numeric, which sums of bigint are
        case 20, 21, 23, 26, 5069, 1700: Self.integer(start).map(SQLValue.integer) ?? Self.real(start)
        // real, double precision
        case 700, 701: Self.real(start)
        // Only a database of another encoding has text that is not UTF-8; reading it is an error.
        default: String(validatingCString: start).map(SQLValue.text) ?? .bytes(Data(buffer: text))
        }
    }

    /// Reads digits in place: most columns are numbers.
    private static func integer(_ text: UnsafePointer<CChar>) -> Int64? {
        var end: UnsafeMutablePointer<CChar>?
        errno = 0
        let number = strtoll(text, &end, 10)
        return end?.pointee == 0 && errno == 0 ? Int64(number) : nil
    }

    private static func real(_ text: UnsafePointer<CChar>) -> SQLValue? {
        Double(String(cString: text)).map(SQLValue.real)
    }

    /// Reads the hexadecimal form of `bytea` ("\x…").
    private static func bytes(_ text: UnsafeBufferPointer<CChar>) -> Data {
        let digits = text.dropFirst(2)
        var data = Data(count: digits.count / 2)
        data.withUnsafeMutableBytes { bytes in
            for (index, place) in zip(bytes.indices, stride(from: digits.startIndex, to: digits.endIndex, by: 2)) {
                bytes[index] = digit(digits[place]) << 4 | digit(digits[place + 1])
            }
        }
        return data
    }

    /// The value of a lower-case hexadecimal digit.
    private static func digit(_ character: CChar) -> UInt8 {
        let byte = UInt8(bitPattern: character)
        return byte <= UInt8(ascii: "9") ? byte &- UInt8(ascii: "0") : byte &- (UInt8(ascii: "a") - 10)
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

    init(_ numbers: some Sequence<Double?>) {
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
