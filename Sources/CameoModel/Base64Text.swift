internal import Foundation

/// Base64 (RFC 4648) as it occurs in URIs and forms: standard or URL-safe alphabet, with or without padding, possibly
/// broken into lines.
enum Base64Text {
    /// - Returns: nil if the text contains any other character or has an impossible length.
    static func decoded(_ text: some Sequence<UInt8>) -> Data? {
        var standard = Data(capacity: text.underestimatedCount + 3)
        for byte in text where !isSpace(byte) { standard.append(inStandardAlphabet(byte)) }
        for _ in 0..<2 where standard.last == UInt8(ascii: "=") { standard.removeLast() }
        guard standard.count % 4 != 1, !standard.contains(UInt8(ascii: "=")) else { return nil }
        standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4))
        return Data(base64Encoded: standard)
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Whether the byte is a digit of either alphabet.
    static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func inStandardAlphabet(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: byte
        }
    }
}
