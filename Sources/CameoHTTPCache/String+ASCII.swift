/// HTTP compares and splits bytes. Swift's characters would hide a comma behind a combining mark, and `lowercased()` turns
/// the Kelvin sign into a k.
extension StringProtocol {
    /// The text with A to Z, and nothing else, in lower case.
    var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }

    /// Whether the two are equal, ignoring the case of A to Z.
    func isSameToken(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// The text without surrounding optional white space (RFC 9110, section 5.6.3).
    var trimmed: String { String(decoding: Substring(self).utf8.trimmed, as: UTF8.self) }

    /// Whether the text is a token (RFC 9110, section 5.6.2), as every field name is.
    var isToken: Bool { !utf8.isEmpty && utf8.allSatisfy(\.isTokenCharacter) }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without surrounding optional white space (RFC 9110, section 5.6.3).
    var trimmed: SubSequence {
        let start = drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return start[start.endIndex...] }
        return start[...last]
    }
}

extension UInt8 {
    var asciiLowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    var isWhitespace: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

    /// The value of a decimal digit, nil for any other byte.
    var digit: Int? { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) ? Int(self) - 0x30 : nil }

    var isTokenCharacter: Bool {
        switch asciiLowercased {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
