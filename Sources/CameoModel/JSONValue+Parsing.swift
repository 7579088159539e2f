/// The reason why a text is not JSON that Cameo accepts, with the byte offset where it was found.
package struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    package let reason: String
    package let offset: Int
    /// The keys that lead to a number that cannot be kept, `metadata.id`; nil if the text is malformed.
    package var path: String?

    package var description: String { "\(reason) at byte \(offset)" }
}

// DESIGN. Of two duplicate keys, Foundation's decoder silently keeps the first and Python's the last. A request's
// thumbnail URIs are a digest of its content, so such a text would be ambiguous; it is refused here. This small parser
// exists for that check, for exact whole numbers and for a bound on depth.
extension JSONValue {
    /// The maximum nesting depth of containers.
    package static let maximumDepth = 64

    /// Parses one JSON text (RFC 8259, UTF-8), refusing duplicate keys, lone surrogates and more than
    /// ``maximumDepth`` nested containers. Unless they are `exact`, whole numbers beyond 64 signed bits become the nearest
    /// `Double`: ``canonicalText`` writes such numbers without an exponent.
    package init(parsing text: some Sequence<UInt8>, exact: Bool = false) throws(JSONSyntaxError) {
        var parser = Parser(bytes: Array(text), isExact: exact)
        self = try parser.document()
    }

    package init(parsing text: String) throws(JSONSyntaxError) {
        try self.init(parsing: text.utf8)
    }
}

private struct Parser {
    let bytes: [UInt8]
    let isExact: Bool
    var keys: [String] = []
    var offset = 0
    var depth = 0

    func failure(_ reason: String) -> JSONSyntaxError { JSONSyntaxError(reason: reason, offset: offset) }

    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    mutating func skipSpace() {
        while next?.isASCIISpace == true { offset += 1 }
    }

    mutating func document() throws(JSONSyntaxError) -> JSONValue {
        let value = try value()
        skipSpace()
        guard next == nil else { throw failure("text after the end of the JSON value") }
        return value
    }

    mutating func value() throws(JSONSyntaxError) -> JSONValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try nested { parser throws(JSONSyntaxError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { parser throws(JSONSyntaxError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case .some(let byte) where byte == UInt8(ascii: "-") || byte.isASCIIDigit: return try number()
        case nil: throw failure("the JSON text ends unexpectedly")
        default: throw failure("unexpected character")
        }
    }

    mutating func nested(
        _ body: (inout Parser) throws(JSONSyntaxError) -> JSONValue
    ) throws(JSONSyntaxError) -> JSONValue {
        guard depth < JSONValue.maximumDepth else {
            throw failure("more than \(JSONValue.maximumDepth) nested containers")
        }
        depth += 1
        defer { depth -= 1 }
        offset += 1
        return try body(&self)
    }

    mutating func object() throws(JSONSyntaxError) -> JSONValue {
        var members: [String: JSONValue] = [:]
        skipSpace()
        if next == UInt8(ascii: "}") { offset += 1; return .object(members) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure("expected a quoted key") }
            let key = try string()
            skipSpace()
            guard next == UInt8(ascii: ":") else { throw failure("expected ':'") }
            offset += 1
            keys.append(key)
            let value = try value()
            keys.removeLast()
            guard members.updateValue(value, forKey: key) == nil else { throw failure("duplicate key \"\(key)\"") }
            if try endOfContainer(UInt8(ascii: "}")) { return .object(members) }
        }
    }

    mutating func array() throws(JSONSyntaxError) -> JSONValue {
        var elements: [JSONValue] = []
        skipSpace()
        if next == UInt8(ascii: "]") { offset += 1; return .array(elements) }
        while true {
            elements.append(try value())
            if try endOfContainer(UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    mutating func endOfContainer(_ closing: UInt8) throws(JSONSyntaxError) -> Bool {
        skipSpace()
        switch next {
        case UInt8(ascii: ","): offset += 1; return false
        case closing: offset += 1; return true
        default: throw failure("expected ',' or '\(Character(UnicodeScalar(closing)))'")
        }
    }

    mutating func literal(_ word: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        let expected = word.withUTF8Buffer { Array($0) }
        guard bytes.dropFirst(offset).starts(with: expected) else { throw failure("unexpected word") }
        offset += expected.count
        return value
    }

    mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = offset
        if next == UInt8(ascii: "-") { offset += 1 }
        if next == UInt8(ascii: "0") { offset += 1 } else { try digits("a number needs a digit") }
        var isWhole = true
        if next == UInt8(ascii: ".") {
            isWhole = false
            offset += 1
            try digits("a number needs a digit after its point")
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isWhole = false
            offset += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
            try digits("a number needs a digit in its exponent")
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        if isWhole, isExact {
            let reason = "the whole number \(text.prefix(40)) does not fit in 64 signed bits; send it as a string"
            throw JSONSyntaxError(reason: reason, offset: start, path: keys.joined(separator: "."))
        }
        guard let double = Double(text), double.isFinite else { throw failure("the number \(text) is out of range") }
        return .number(double)
    }

    mutating func digits(_ rule: String) throws(JSONSyntaxError) {
        guard let first = next, first.isASCIIDigit else { throw failure(rule) }
        while let byte = next, byte.isASCIIDigit { offset += 1 }
    }

    mutating func string() throws(JSONSyntaxError) -> String {
        offset += 1
        var utf8: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                guard let string = String(validating: utf8, as: UTF8.self) else { throw failure("invalid UTF-8") }
                return string
            case UInt8(ascii: "\\"):
                offset += 1
                utf8.append(contentsOf: Array(String(try escape()).utf8))
            case 0..<0x20:
                throw failure("a control character inside a string")
            default:
                utf8.append(byte)
                offset += 1
            }
        }
        throw failure("unterminated string")
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "\"": "\"", "\\": "\\", "/": "/", "b": "\u{08}", "f": "\u{0C}", "n": "\n", "r": "\r", "t": "\t",
    ]

    mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
        guard let byte = next else { throw failure("unterminated string") }
        offset += 1
        if byte == UInt8(ascii: "u") { return try unicodeEscape() }
        guard let scalar = Self.escapes[Unicode.Scalar(byte)] else { throw failure("unknown escape") }
        return scalar
    }

    mutating func unicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let high = try fourHexDigits()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard (0xD800..<0xDC00).contains(high), bytes.dropFirst(offset).starts(with: Array("\\u".utf8)) else {
            throw failure("lone surrogate")
        }
        offset += 2
        let low = try fourHexDigits()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw failure("lone surrogate") }
        return scalar
    }

    mutating func fourHexDigits() throws(JSONSyntaxError) -> UInt32 {
        let digits = bytes.dropFirst(offset).prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("\\u needs four hexadecimal digits") }
        offset += 4
        return value
    }
}
