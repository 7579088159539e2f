internal import CameoModel
internal import CameoSystem
internal import Foundation
internal import HTTPTypes
internal import Hummingbird

/// Makes thumbnails of imgproxy's URLs.
extension WebExchange {
    /// How long a response is held if the query has no `wait`: imgproxy answers with the picture.
    private static let patience = Duration.seconds(10)

    /// Serves imgproxy's URLs, so that a site can move without touching its templates.
    func imgproxy() async throws -> Response {
        let (signature, rest) = target.firstSegment
        guard let rest else { throw Problem(.notFound, "there is nothing at this path") }
        let original = original(of: "/\(rest)") { path in
            site.configuration.imgproxyKeys.map { $0.verifies(signature, of: path) }
        }
        guard let original else { throw Problem(.forbidden, "the URL's signature is wrong") }
        let (source, options) = try ImgproxyPath.parsed(original.dropFirst())
        return try await ending(at: options.expires).make(
            source,
            as: try options.rendition(),
            within: target.query["wait"] == nil ? Self.patience : try target.query.wait()
        )
    }
}

/// The path of an imgproxy URL (https://docs.imgproxy.net/usage/processing):
/// `/SIGNATURE/OPTION:…/OPTION:…/plain/URL@FORMAT` or `/SIGNATURE/OPTION:…/BASE64.FORMAT`.
private enum ImgproxyPath {
    /// Parses the path after the signature and its slash, still percent-encoded.
    static func parsed(_ path: Substring) throws -> (source: String, options: ImgproxyOptions) {
        var segments = path.split(separator: "/", omittingEmptySubsequences: false)[...]
        var options = ImgproxyOptions()
        // Options have a colon, and base64 has none.
        while let segment = segments.first, segment != "plain", segment.contains(":") || segment.contains("%3") {
            try options.apply(try RequestTarget.decoded(segment))
            segments = segments.dropFirst()
        }
        let source: String
        let format: Substring?
        switch segments.first {
        case "plain":
            // An @ of the URL itself is percent-encoded.
            let parts = try Self.parts(segments.dropFirst().joined(separator: "/"), at: "@")
            (source, format) = (try RequestTarget.decoded(parts.text), parts.format)
        case "enc": throw Problem(.badRequest, "imgproxy's encrypted source URLs (enc) are not supported")
        default:
            let parts = try Self.parts(segments.joined(), at: ".")
            let bytes = Base64Text.decoded(parts.text.utf8)
            guard let text = bytes.flatMap({ String(validating: $0, as: UTF8.self) }) else {
                throw Problem(.badRequest, "the source URL is neither plain nor base64")
            }
            (source, format) = (text, parts.format)
        }
        if let format { try options.apply("format:\(format)") }
        return (source, options)
    }

    private static func parts(_ text: String, at separator: Character) throws(Problem) -> (
        text: Substring, format: Substring?
    ) {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.isEmpty else { throw Problem(.badRequest, "the URL has no source") }
        guard parts.count <= 2 else { throw Problem(.badRequest, "the URL has more than one format") }
        return (first, parts.count == 2 && !parts[1].isEmpty ? parts[1] : nil)
    }
}

/// A key and a salt as configured for imgproxy (`IMGPROXY_KEY`, `IMGPROXY_SALT`), which sign its URLs: base64url of the
/// HMAC-SHA256 of the salt and the path (https://docs.imgproxy.net/usage/signing_url).
package struct ImgproxyKey: Sendable {
    private let key: HMACKey
    private let salt: [UInt8]

    /// Parses a file: a key and a salt per line, both in hexadecimal, separated by a space.
    package static func all(parsing text: String) throws(SecretFile.Malformed) -> [ImgproxyKey] {
        var keys: [ImgproxyKey] = []
        for (line, words) in SecretFile.lines(of: text) {
            // No message may contain a key.
            guard words.count == 2, let secret = bytes(words[0]), let salt = bytes(words[1]) else {
                let reason = "must be a key and a salt in hexadecimal, separated by a space"
                throw SecretFile.Malformed(line: line, reason)
            }
            // As short as imgproxy allows: the key is in use already.
            keys.append(ImgproxyKey(key: HMACKey(secret), salt: salt))
        }
        return keys
    }

    private static func bytes(_ hex: String) -> [UInt8]? {
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
        HMACKey.areSame(self.signature(of: path).utf8, signature.utf8.prefix { $0 != UInt8(ascii: "=") })
    }
}
