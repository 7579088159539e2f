internal import CameoModel
internal import Foundation

/// A key and a salt as configured for imgproxy (`IMGPROXY_KEY`, `IMGPROXY_SALT`), which sign its URLs: base64url of the
/// HMAC-SHA256 of the salt and the path (https://docs.imgproxy.net/usage/signing_url).
package struct ImgproxyKey: Sendable {
    private let key: SigningKey
    private let salt: [UInt8]

    /// A syntax error in a file of keys.
    package struct Malformed: Error, CustomStringConvertible {
        package let description: String
    }

    /// Parses a file: a key and a salt per line, both in hexadecimal, separated by a space. Empty lines and lines that
    /// begin with `#` are ignored.
    package static func all(parsing text: String) throws(Malformed) -> [ImgproxyKey] {
        var keys: [ImgproxyKey] = []
        for (index, line) in text.lines.enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            // No message may contain a key.
            guard words.count == 2, let secret = bytes(words[0]), let salt = bytes(words[1]) else {
                throw Malformed(
                    description: "line \(index + 1): must be a key and a salt in hexadecimal, separated by a space"
                )
            }
            // As short as imgproxy allows: the key is in use already.
            keys.append(ImgproxyKey(key: SigningKey(anyLength: secret), salt: salt))
        }
        return keys
    }

    private static func bytes(_ hex: Substring) -> [UInt8]? {
        let digits = Array(hex)
        guard digits.count.isMultiple(of: 2), digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    /// The signature of a path, which begins with a slash.
    package func signature(of path: some StringProtocol) -> String {
        Data(key.code(of: salt + Array(path.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Verifies a signature in constant time. Padding is optional.
    func verifies(_ signature: Substring, of path: String) -> Bool {
        let own = Array(self.signature(of: path).utf8)
        let given = Array(signature.utf8.prefix { $0 != UInt8(ascii: "=") })
        guard own.count == given.count else { return false }
        return zip(own, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
