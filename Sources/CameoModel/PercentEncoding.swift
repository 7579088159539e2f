internal import CameoSystem

/// Percent-encoding of URIs (RFC 3986, section 2.1), on bytes: the decoded bytes need not be text.
package enum PercentEncoding {
    /// Returns nil if a `%` is not followed by two hexadecimal digits.
    package static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.underestimatedCount)
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else { result.append(byte); continue }
            guard let high = iterator.next().flatMap(hexValue), let low = iterator.next().flatMap(hexValue) else {
                return nil
            }
            result.append(high << 4 | low)
        }
        return result
    }

    /// Encodes the UTF-8 bytes of everything but RFC 3986's unreserved characters, with upper-case digits.
    package static func encoded(_ text: String) -> String { encoded(text.utf8, keeping: []) }

    /// Encodes any bytes, leaving unreserved ones and those in `kept` as they are.
    package static func encoded(_ bytes: some Sequence<UInt8>, keeping kept: [UInt8]) -> String {
        var result = ""
        for byte in bytes {
            if byte.isASCIILetter || byte.isASCIIDigit || "-._~".utf8.contains(byte) || kept.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + Hexadecimal.encode([byte]).uppercased()
            }
        }
        return result
    }

    /// Makes a URI readable: decodes every visible character except `%` and the ASCII characters in `kept`, which have
    /// a meaning in the URI.
    package static func readable(_ text: String, keeping kept: String) -> String {
        var rest = Substring(text).utf8
        var result = ""
        while !rest.isEmpty {
            let plain = rest.prefix { $0 != UInt8(ascii: "%") }
            result += String(plain) ?? String(decoding: plain, as: UTF8.self)
            rest = rest[plain.endIndex...]
            guard rest.first == UInt8(ascii: "%") else { continue }
            // A UTF-8 scalar has at most four bytes.
            let character = (1...4).lazy.compactMap { length -> (Substring.UTF8View, Unicode.Scalar)? in
                let encoded = rest.prefix(3 * length)
                guard encoded.count == 3 * length, isAllEncoded(encoded), let bytes = decoded(encoded),
                    let scalars = String(validating: bytes, as: UTF8.self)?.unicodeScalars, scalars.count == 1
                else { return nil }
                return scalars.first.map { (encoded, $0) }
            }.first
            if let (encoded, scalar) = character, scalar.isText, scalar != "%", !kept.unicodeScalars.contains(scalar) {
                result.unicodeScalars.append(scalar)
                rest = rest[encoded.endIndex...]
            } else {
                result += "%"
                rest = rest.dropFirst()
            }
        }
        return result
    }

    private static func isAllEncoded(_ text: Substring.UTF8View) -> Bool {
        text.enumerated().allSatisfy { $0.offset % 3 != 0 || $0.element == UInt8(ascii: "%") }
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
