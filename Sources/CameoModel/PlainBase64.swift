package import Foundation

/// Base64 (RFC 4648) as it occurs in URIs and forms: standard or URL-safe alphabet, with or without padding, possibly
/// broken into lines.
package enum Base64Text {
    /// - Returns: nil if the text contains any other character or has an impossible length.
    package static func decoded(_ text: some Sequence<UInt8>) -> Data? {
        var standard = Data(capacity: text.underestimatedCount + 3)
        for byte in text where !byte.isASCIISpace { standard.append(inStandardAlphabet(byte)) }
        for _ in 0..<2 where standard.last == UInt8(ascii: "=") { standard.removeLast() }
        guard standard.count % 4 != 1, !standard.contains(UInt8(ascii: "=")) else { return nil }
        standard.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - standard.count % 4) % 4))
        return Data(base64Encoded: standard)
    }

    /// Whether the byte is a digit of either alphabet.
    static func isDigit(_ byte: UInt8) -> Bool {
        byte.isASCIILetter || byte.isASCIIDigit || "+/-_".utf8.contains(byte)
    }

    private static func inStandardAlphabet(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: byte
        }
    }
}

/// A picture given as bare base64: a source without a scheme that decodes to the first bytes of a picture.
///
/// DESIGN. A file name must never be taken for base64 by accident. A name with an extension is safe, because base64 has
/// no dot; any other name would need ``minimumDigits`` digits, the first of which spell a picture's magic bytes. Bare
/// JPEG XL has only two magic bytes, `/w` in base64, and a path may well begin with those, so it needs a `data:` URI. A
/// command that takes paths first checks whether the path exists.
package enum PlainBase64 {
    /// The minimum number of base64 digits, without padding. They make 24 bytes, and no picture has fewer.
    package static let minimumDigits = 32

    /// Whether the beginning of a text looks like a picture in base64. The rest may be malformed.
    package static func matches(_ source: String) -> Bool {
        var digits: [UInt8] = []
        var rest = source.utf8[...]
        while digits.count < minimumDigits, var byte = rest.first {
            if byte == UInt8(ascii: "%") {
                guard let decoded = PercentEncoding.decoded(rest.prefix(3))?.first else { return false }
                byte = decoded
                rest = rest.dropFirst(3)
            } else {
                rest = rest.dropFirst()
            }
            if byte.isASCIISpace { continue }
            // Every URL ends here, at its colon.
            guard Base64Text.isDigit(byte) else { return false }
            digits.append(byte)
        }
        // Padding gives fewer bytes.
        guard let start = Base64Text.decoded(digits), start.count == minimumDigits / 4 * 3 else { return false }
        return beginnings.contains { offset, magic in start.dropFirst(offset).starts(with: magic) }
    }

    /// Accepts the standard or URL-safe alphabet, with or without padding, whitespace and percent-encoding.
    package static func decoded(_ source: String) throws(InvalidRequest) -> Data {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "source", reason: reason) }
        guard matches(source) else { throw refuse("is not a picture in base64") }
        guard let text = PercentEncoding.decoded(source.utf8) else {
            throw refuse("a picture in base64 has a % that is not followed by two hexadecimal digits")
        }
        guard let decoded = Base64Text.decoded(text) else { throw refuse("the picture's base64 is malformed") }
        return decoded
    }

    /// This check is part of how a thumbnail's URI is computed (`proto-json/README.md`), so it is simpler than
    /// ``PictureFormat/init(sniffing:)`` and must never change.
    private static let beginnings: [(offset: Int, magic: [UInt8])] = [
        (0, [0xFF, 0xD8, 0xFF]),
        (0, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        (0, Array("GIF87a".utf8)), (0, Array("GIF89a".utf8)),
        (8, Array("WEBP".utf8)),
        (0, [0x49, 0x49, 0x2A, 0]), (0, [0x4D, 0x4D, 0, 0x2A]), (0, [0x49, 0x49, 0x2B, 0]), (0, [0x4D, 0x4D, 0, 0x2B]),
        (4, Array("ftyp".utf8)),
        (0, [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
        (0, Array("%PDF-".utf8)),
        (0, Array("<svg".utf8)), (0, Array("<?xml".utf8)), (0, Array("<!--".utf8)), (0, Array("<!DOCTYPE".utf8)),
    ]
}
