package import Foundation

/// A picture as nothing but base64: a source without a scheme whose first bytes, decoded, are those of a picture.
///
/// DESIGN. A file name must never be one by accident. No name with an ending is, since base64 has no dot; of other
/// names the first characters would have to spell a picture's magic bytes, and there must be ``minimumDigits``. A path
/// may well begin with `/w`, as a bare JPEG XL does, whose magic has two bytes: such needs a `data:` URI. And a command
/// that takes paths looks first whether the path is there.
package struct PlainBase64: Hashable, Sendable {
    /// Of characters that stand for six bits each, without padding. No picture has fewer than their 24 bytes.
    package static let minimumDigits = 32

    package let bytes: Data

    /// Whether a text begins as one does, looking no further than its beginning: the rest may be malformed.
    package static func isMeant(by source: String) -> Bool {
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
            if Base64Text.isSpace(byte) { continue }
            // Every URL ends here, at its colon.
            guard Base64Text.isDigit(byte) else { return false }
            digits.append(byte)
        }
        // Padding gives fewer bytes.
        guard let start = Base64Text.decoded(digits), start.count == minimumDigits / 4 * 3 else { return false }
        return beginsAsPicture(Array(start))
    }

    /// With or without padding, in the standard or the URL-safe alphabet, percent-encoded or not, and with spaces.
    package init(parsing source: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "source", reason: reason) }
        guard Self.isMeant(by: source) else { throw refuse("is no picture in base64") }
        guard let text = PercentEncoding.decoded(source.utf8) else {
            throw refuse("a picture in base64 has a % that two hexadecimal digits do not follow")
        }
        guard let decoded = Base64Text.decoded(text) else { throw refuse("the picture's base64 is malformed") }
        bytes = decoded
    }

    /// Part of how a thumbnail's URI is computed (`proto-json/README.md`), and so simpler than
    /// ``PictureFormat/init(sniffing:)``, and not to be changed.
    private static func beginsAsPicture(_ start: [UInt8]) -> Bool {
        beginnings.contains { offset, magic in start.dropFirst(offset).starts(with: magic) }
    }

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
