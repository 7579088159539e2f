/// What HTTP compares and splits is bytes. Swift's characters would hide a comma behind a combining mark, and its
/// lower case turns the Kelvin sign into a k.
extension StringProtocol {
    /// Lower case for A to Z, and for nothing else.
    var asciiLowercased: String { String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self) }

    /// Whether the two are one name, whose case does not matter.
    func isSameToken(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// Without the optional white space around it (RFC 9110, section 5.6.3).
    var trimmed: String { String(decoding: Substring(self).utf8.trimmed, as: UTF8.self) }

    /// Whether it is a token (RFC 9110, section 5.6.2), as the name of every field is.
    var isToken: Bool { !utf8.isEmpty && utf8.allSatisfy(\.isTokenCharacter) }
}

extension BidirectionalCollection<UInt8> {
    /// Without the optional white space around it (RFC 9110, section 5.6.3).
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
