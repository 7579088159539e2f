internal import CameoSystem

/// The canonical form of JSON, of which ids are digests.
extension JSONValue {
    /// The text in RFC 8785 form (JSON Canonicalization Scheme): keys in UTF-16 order, no whitespace, numbers as
    /// ECMAScript prints them. Whole numbers beyond ±2^53 are printed exactly, whereas RFC 8785 would round them.
    public var canonicalText: String {
        String(decoding: canonicalBytes, as: UTF8.self)
    }

    package var canonicalBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        appendCanonical(to: &bytes)
        return bytes
    }

    private func appendCanonical(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .number(let value): bytes += ECMAScriptNumber.text(of: value).utf8
        case .string(let value): Self.appendQuoted(value, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.appendCanonical(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            let sorted = members.sorted { Self.precedes($0.key, $1.key) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.appendQuoted(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.appendCanonical(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Compares in UTF-16 order using UTF-8 bytes. The two orders differ only for scalars from U+E000 to U+FFFF (first
    /// byte 0xEE or 0xEF), which in UTF-16 sort after all higher scalars (first byte 0xF0 to 0xF4).
    private static func precedes(_ one: String, _ other: String) -> Bool {
        func place(_ byte: UInt8) -> UInt8 { byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte }
        return one.utf8.lexicographicallyPrecedes(other.utf8) { place($0) < place($1) }
    }

    private static func appendQuoted(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case 0x08: bytes += "\\b".utf8
            case 0x0C: bytes += "\\f".utf8
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            case UInt8(ascii: "\r"): bytes += "\\r".utf8
            case UInt8(ascii: "\t"): bytes += "\\t".utf8
            case ..<0x20: bytes += ("\\u00" + Hexadecimal.encode([byte])).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

/// Number::toString of ECMA-262 (RFC 8785, section 3.2.2.3).
enum ECMAScriptNumber {
    static func text(of value: Double) -> String {
        if value == 0 { return "0" }
        if value < 0 { return "-" + text(of: -value) }
        let (digits, exponent) = shortestDigits(value)
        let count = digits.count
        switch exponent {
        case count...21 where count <= exponent:
            return digits + String(repeating: "0", count: exponent - count)
        case 1...21:
            return digits.prefix(exponent) + "." + digits.dropFirst(exponent)
        case -5...0:
            return "0." + String(repeating: "0", count: -exponent) + digits
        default:
            let power = exponent - 1
            let fraction = count > 1 ? "." + digits.dropFirst() : ""
            return digits.prefix(1) + fraction + "e" + (power < 0 ? "-" : "+") + String(abs(power))
        }
    }

    /// The shortest digits that parse back to `value`, and n such that value = 0.digits × 10^n. Swift's own
    /// description has the same digits in a different layout.
    private static func shortestDigits(_ value: Double) -> (digits: String, exponent: Int) {
        let parts = value.description.split(separator: "e")
        let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let whole = mantissa[0]
        let fraction = mantissa.count > 1 ? mantissa[1] : ""
        var exponent = whole.count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
        var digits = Substring(whole + fraction)
        while digits.first == "0" { digits.removeFirst(); exponent -= 1 }
        while digits.last == "0" { digits.removeLast() }
        return (String(digits), exponent)
    }
}
