internal import CameoSystem
package import Foundation

/// The name of a source in messages: recognizable, readable, short, on one line, and without credentials.
package enum SourceName {
    private static let maximumLength = 300
    /// The limit for `data:` URIs, which are mostly payload.
    private static let maximumDataLength = 60
    /// The limit for bare base64; these characters already show the picture's format and size.
    private static let maximumBase64Length = 24
    /// The reserved characters of RFC 3986, section 2.2.
    private static let reserved = ":/?#[]@!$&'()*+,;="

    package static func of(_ source: String) -> String {
        switch SourceScheme(of: source) {
        case .data: printable(source, limit: maximumDataLength)
        case .file: printable(PercentEncoding.readable(source, keeping: "/"), limit: maximumLength)
        case nil where PlainBase64.matches(source): printable(source, limit: maximumBase64Length)
        default:
            printable(
                PercentEncoding.readable(withoutCredentials(withoutPassword(source)), keeping: reserved),
                limit: maximumLength
            )
        }
    }

    package static func ofPath(_ path: [UInt8]) -> String { printable(FilePaths.readable(path), limit: maximumLength) }

    /// Removes everything between the scheme and the last "@". Text that is not a valid URL may still contain a
    /// password, so this errs on the side of removing too much.
    package static func withoutCredentials(_ source: String) -> String {
        let bytes = source.utf8
        guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return source }
        let rest = bytes[bytes.index(after: at)...]
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon < at else {
            return String(decoding: rest, as: UTF8.self)
        }
        let slashes = bytes[bytes.index(after: colon)...].prefix { $0 == UInt8(ascii: "/") }
        return String(decoding: Array(bytes[..<min(slashes.endIndex, at)]) + Array(rest), as: UTF8.self)
    }

    /// The source with "…" in place of the user name and password of a URL, and otherwise unchanged. Where it is unclear what
    /// of a malformed URL they are, ``withoutCredentials(_:)``.
    package static func withoutPassword(_ source: String) -> String {
        if case .source(let name)? = CameoURI(source) {
            let shown = withoutPassword(name)
            return shown == name ? source : CameoURI.source(shown).text
        }
        guard let scheme = URIScheme.of(source), source.dropFirst(scheme.count).hasPrefix("://") else { return source }
        let start = source.index(source.startIndex, offsetBy: scheme.count + 3)
        let authority = source[start...].prefix { !"/\\?#".contains($0) }
        if let at = authority.lastIndex(of: "@") { return source[..<start] + "…" + source[at...] }
        // An IPv6 address has colons too.
        let end = authority[(authority.lastIndex(of: "]") ?? authority.startIndex)...]
        let port = end.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first ?? ""
        return port.allSatisfy(\.isNumber) ? source : withoutCredentials(source)
    }

    private static func printable(_ text: String, limit: Int) -> String {
        // Nearly every name, which costs a job several times as much scalar by scalar.
        if text.utf8.count <= limit, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        let shown = text.unicodeScalars.prefix(limit).map { scalar in
            let isControl = scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
            return isControl ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }
        return shown.joined() + (text.unicodeScalars.dropFirst(limit).isEmpty ? "" : "…")
    }
}

/// The kind of a source, which the worker knows before it reads the bytes.
package enum SourceKind: String, CaseIterable, Hashable, Sendable {
    /// Any file. Its format is determined by its first bytes.
    case file
    /// An ``Initials/canonicalText`` written by the worker itself. The bytes never decide this, or any submitted file
    /// could pass as one.
    case initials
    /// A video or, for a renderer, the frame of one: an uncompressed PNG that the worker has had made.
    case video
    /// A video of which only the parts are there that were asked for. What is missing are holes of its file.
    case partialVideo

    package var isVideo: Bool { self == .video || self == .partialVideo }
}

/// A `file:` URI (RFC 8089, without its shorter forms). Its path is bytes and need not be valid text.
package struct FileURI: Hashable, Sendable {
    private static let slash = UInt8(ascii: "/")

    /// An absolute path without `.`, `..`, empty components, NUL or a trailing slash (except `/` itself).
    package let path: [UInt8]

    /// - Parameter path: a relative path is resolved against the working directory.
    package init(path: [UInt8]) { self.path = FilePaths.absolute(path) }

    /// - Throws: the reason why the URI names no local file, phrased to follow the URI in a sentence.
    package init(parsing source: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "source", reason: reason) }
        let rest = source.utf8.dropFirst("file:".utf8.count)
        guard rest.starts(with: "//".utf8) else { throw refuse("is not written as file:///folder/picture.jpg") }
        let authority = rest.dropFirst(2).prefix { $0 != Self.slash }
        let host = String(decoding: authority, as: UTF8.self)
        guard host.isEmpty || host.lowercased() == "localhost" else {
            throw refuse("names a host; only local files, file:///folder/picture.jpg, can be read")
        }
        let encoded = rest[authority.endIndex...]
        guard encoded.first == Self.slash else { throw refuse("has no absolute path") }
        guard !encoded.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            throw refuse("has a ? or #; in a file name, write them as %3F and %23")
        }
        guard let bytes = PercentEncoding.decoded(encoded) else {
            throw refuse("has a % that is not followed by two hexadecimal digits")
        }
        guard !bytes.contains(0) else { throw refuse("has a NUL, which no file name can contain") }
        path = FilePaths.absolute(bytes)
    }

    /// The URI, with everything but RFC 3986's unreserved characters and `/` percent-encoded.
    package var text: String { "file://" + PercentEncoding.encoded(path, keeping: [Self.slash]) }
}

/// A picture whose bytes are in the source itself: a `data:` URI, or bare base64.
package struct InlinePicture: Hashable, Sendable {
    /// The media type that a `data:` URI declares, in lower case, without parameters; nil if none is declared.
    package let mediaType: String?
    package let bytes: Data

    /// Whether a source looks like an inline picture. It may still be malformed.
    package static func isIn(_ source: String) -> Bool {
        SourceScheme(of: source) == .data || PlainBase64.matches(source)
    }
}

extension InlinePicture {
    /// A picture embedded in a URI (RFC 2397): `data:image/png;base64,…`, or plain base64. Accepts base64 with or without
    /// padding, in the standard or the URL-safe alphabet, and percent-encoding.
    package init(parsing source: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "source", reason: reason) }
        guard SourceScheme(of: source) == .data else {
            self.init(mediaType: nil, bytes: try PlainBase64.decoded(source))
            return
        }
        let text = source.utf8
        guard let comma = text.firstIndex(of: UInt8(ascii: ",")) else {
            throw refuse("a data: URI needs a comma before its data")
        }
        let header = text[..<comma].dropFirst(5)
            .split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: ["\u{20}"]).lowercased() }
        let mediaType = header.first.flatMap { $0.isEmpty ? nil : $0 }
        guard let payload = PercentEncoding.decoded(text[text.index(after: comma)...]).map({ Data($0) }) else {
            throw refuse("a data: URI has a % that is not followed by two hexadecimal digits")
        }
        guard let bytes = header.dropFirst().contains("base64") ? Base64Text.decoded(payload) : payload else {
            throw refuse("the data: URI's base64 is malformed")
        }
        self.init(mediaType: mediaType, bytes: bytes)
    }
}
