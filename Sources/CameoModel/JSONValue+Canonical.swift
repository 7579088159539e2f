extension JSONValue {
    /// The text of RFC 8785 (JSON Canonicalization Scheme): keys in UTF-16 order, no space, numbers as ECMAScript
    /// prints them. Whole numbers outside ±2^53 are printed exactly, where RFC 8785 would round them.
    public var canonicalText: String {
        var text = ""
        appendCanonical(to: &text)
        return text
    }

    private func appendCanonical(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += ECMAScriptNumber.text(of: value)
        case .string(let value): Self.appendQuoted(value, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.appendCanonical(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            let sorted = members.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
            for (index, member) in sorted.enumerated() {
                if index > 0 { text += "," }
                Self.appendQuoted(member.key, to: &text)
                text += ":"
                member.value.appendCanonical(to: &text)
            }
            text += "}"
        }
    }

    private static func appendQuoted(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\u{08}": text += "\\b"
            case "\u{0C}": text += "\\f"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\u{00}"..<"\u{20}": text += "\\u00" + Hexadecimal.encode([UInt8(scalar.value)])
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

/// Number::toString of ECMA-262 (RFC 8785, section 3.2.2.3).
enum ECMAScriptNumber {
    /// The text of a finite number.
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

    /// The shortest digits that read back as `value`, and n such that value = 0.digits × 10^n. Swift's own
    /// description has the same digits in another layout.
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
