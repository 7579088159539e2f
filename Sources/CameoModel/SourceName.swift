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
        switch URIScheme.of(source) {
        case "data": printable(source, limit: maximumDataLength)
        case "file": printable(PercentEncoding.readable(source, keeping: "/"), limit: maximumLength)
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
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < limit else { return result + "…" }
            let isControl = scalar.properties.generalCategory == .control || scalar.properties.isBidiControl
            result += isControl ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
            count += 1
        }
        return result
    }
}
