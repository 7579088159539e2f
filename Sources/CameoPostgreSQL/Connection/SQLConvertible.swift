internal import CameoModel
internal import Foundation

/// A parameter of a statement as it is sent.
enum SQLParameter: Sendable {
    case text(String)
    /// Text as UTF-8.
    case utf8([UInt8])
    /// Sent in binary form as `bytea`.
    case bytes(Data)
}

/// What can be a parameter of a statement or a column of a row. The server infers the type of a parameter from its
/// place; where it cannot, the statement casts.
protocol SQLConvertible: Sendable {
    var parameter: SQLParameter { get }
    /// Reads the text form of a column; nil if it is malformed.
    static func read(_ text: UnsafePointer<CChar>, count: Int) -> Self?
}

extension Int64: SQLConvertible {
    var parameter: SQLParameter { .text(String(self)) }

    /// Reads digits in place: most columns are numbers.
    static func read(_ text: UnsafePointer<CChar>, count: Int) -> Int64? {
        var end: UnsafeMutablePointer<CChar>?
        errno = 0
        let number = strtoll(text, &end, 10)
        return count > 0 && end.map { UnsafePointer($0) } == text + count && errno == 0 ? Int64(number) : nil
    }
}

extension Int: SQLConvertible {
    var parameter: SQLParameter { .text(String(self)) }
    static func read(_ text: UnsafePointer<CChar>, count: Int) -> Int? { Int64.read(text, count: count).map(Int.init) }
}

extension Double: SQLConvertible {
    var parameter: SQLParameter { .text(String(self)) }
    static func read(_ text: UnsafePointer<CChar>, count: Int) -> Double? { Double(String(cString: text)) }
}

extension Bool: SQLConvertible {
    var parameter: SQLParameter { .text(self ? "t" : "f") }
    static func read(_ text: UnsafePointer<CChar>, count: Int) -> Bool? {
        switch UInt8(bitPattern: text[0]) {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }
}

extension String: SQLConvertible {
    var parameter: SQLParameter { .text(self) }
    static func read(_ text: UnsafePointer<CChar>, count: Int) -> String? { String(validatingCString: text) }
}

extension Data: SQLConvertible {
    var parameter: SQLParameter { .bytes(self) }

    /// Reads the hexadecimal form of `bytea` ("\x…").
    static func read(_ text: UnsafePointer<CChar>, count: Int) -> Data? {
        guard count >= 2, count % 2 == 0, text[0] == 0x5C, text[1] == 0x78 else { return nil }
        var data = Data(count: (count - 2) / 2)
        let isRead = data.withUnsafeMutableBytes { bytes in
            for index in bytes.indices {
                guard let high = digit(text[2 + 2 * index]), let low = digit(text[3 + 2 * index]) else { return false }
                bytes[index] = high << 4 | low
            }
            return true
        }
        return isRead ? data : nil
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

/// Arrays are parameters only: a list of any length is one parameter, as in `= ANY($1::bigint[])` and `unnest`.
struct SQLArray: SQLConvertible {
    let parameter: SQLParameter

    init(_ numbers: some Sequence<Int64>) {
        self.init(numbers.map(Optional.some))
    }

    init(_ numbers: some Sequence<Int64?>) {
        self.init(items: numbers) { number, list in
            let start = list.endIndex
            var rest = number.magnitude
            repeat {
                list.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
                rest /= 10
            } while rest > 0
            if number < 0 { list.append(UInt8(ascii: "-")) }
            list[start...].reverse()
        }
    }

    init(_ numbers: some Sequence<Int>) { self.init(numbers.map(Int64.init)) }

    init(_ numbers: some Sequence<Int?>) { self.init(numbers.map { $0.map(Int64.init) }) }

    init(_ texts: some Sequence<String?>) {
        let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        self.init(items: texts) { text, list in
            list.append(quote)
            for byte in text.utf8 {
                if byte == quote || byte == escape { list.append(escape) }
                list.append(byte)
            }
            list.append(quote)
        }
    }

    init(_ texts: some Sequence<String>) { self.init(texts.map(Optional.some)) }

    init(_ truths: some Sequence<Bool>) {
        self.init(items: truths.map(Optional.some)) { truth, list in list += (truth ? "t" : "f").utf8 }
    }

    private init<Item>(items: some Sequence<Item?>, _ append: (Item, inout [UInt8]) -> Void) {
        var list = [UInt8(ascii: "{")]
        list.reserveCapacity(16 * items.underestimatedCount)
        for item in items {
            if list.count > 1 { list.append(UInt8(ascii: ",")) }
            if let item { append(item, &list) } else { list += "NULL".utf8 }
        }
        list.append(UInt8(ascii: "}"))
        parameter = .utf8(list)
    }

    static func read(_ text: UnsafePointer<CChar>, count: Int) -> SQLArray? { nil }
}
