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

    /// What no number of Cameo exceeds, ranks included. Nearer to the largest, sums and differences would trap.
    private static let bound: Int64 = 1 << 58

    /// Reads digits in place: most columns are numbers. One that only another program can have left is cut to the bound.
    package func integer(_ column: Int) throws -> Int64? {
        try result.read(index, column) { text, count in
            var end: UnsafeMutablePointer<CChar>?
            errno = 0
            let number = strtoll(text, &end, 10)
            return count > 0 && end.map { UnsafePointer($0) } == text + count && errno == 0
                ? min(max(Int64(number), -Self.bound), Self.bound) : nil
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
