internal import CameoHTTPTransfer
internal import CameoModel

/// Redirects sources to mirrors or to copies on disk.
///
/// The rules are applied once, before any other step: the resulting scheme selects the provider, and the address guard and
/// the allowed folders check the resulting URI.
struct SourceRewriting: Sendable {
    /// The rules, the longest prefix first.
    private let rewrites: [SourceRewrite]

    init(_ rewrites: [SourceRewrite]) throws(FetchConfigurationError) {
        self.rewrites = rewrites.sorted { $0.prefix.utf8.count > $1.prefix.utf8.count }
        for (index, rewrite) in rewrites.enumerated()
        where rewrites[..<index].contains(where: { $0.prefix == rewrite.prefix }) {
            throw .rewrite(rewrite.prefix, reason: "is there twice")
        }
    }

    /// - Returns: the source itself if no prefix matches.
    /// - Throws: `source.forbidden` for a source that would climb out of the replacement.
    func rewritten(_ source: String) throws(JobFailure) -> String {
        guard !rewrites.isEmpty else { return source }
        let normalized = SourceRewrite.normalized(source)
        guard let rewrite = rewrites.first(where: { normalized.utf8.starts(with: $0.prefix.utf8) }) else {
            return source
        }
        let rest = normalized.utf8.dropFirst(rewrite.prefix.utf8.count)
        guard !Self.climbs(rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }) else {
            throw .fetch(.sourceForbidden, "\(SourceName.of(source)) is rewritten, and may have no .. in its path")
        }
        return rewrite.replacement + String(decoding: rest, as: UTF8.self)
    }

    private static func climbs(_ path: Substring.UTF8View) -> Bool {
        let decoded = PercentEncoding.decoded(path) ?? Array(path)
        let components = decoded.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        return components.contains { $0.elementsEqual("..".utf8) }
    }
}

/// A prefix of source URIs and its replacement: `http://pictures.example/=https://mirror.internal/pictures/`.
package struct SourceRewrite: Hashable, Sendable {
    private static let schemes: Set<String?> = ["http", "https", "file"]

    /// The prefix with scheme and host in lower case.
    let prefix: String
    let replacement: String

    /// Splits at the first `=` that is followed by a URI, since URIs may contain `=` too.
    ///
    /// - Throws: ``FetchConfigurationError/rewrite(_:reason:)``.
    package init(parsing text: String) throws(FetchConfigurationError) {
        let bytes = text.utf8
        let split = bytes.indices.first { index in
            bytes[index] == UInt8(ascii: "=") && Self.schemes.contains(URIScheme.of(String(text[index...].dropFirst())))
        }
        guard let split else { throw .rewrite(text, reason: "must be written PREFIX=PREFIX, both of them URIs") }
        prefix = Self.normalized(String(text[..<split]))
        replacement = String(text[split...].dropFirst())
        for part in [prefix, replacement] {
            guard let reason = Self.fault(of: part) else { continue }
            throw .rewrite(text, reason: "\(SourceName.of(part)) \(reason)")
        }
    }

    /// The source with scheme and host in lower case; the rest is case-sensitive.
    static func normalized(_ source: String) -> String {
        let head = source.utf8.prefix(authorityEnd(source) ?? 0)
        let lower = head.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return String(decoding: lower + source.utf8.dropFirst(head.count), as: UTF8.self)
    }

    /// The offset of the slash after the host; nil if there is none.
    private static func authorityEnd(_ source: String) -> Int? {
        let bytes = Array(source.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            bytes[(colon + 1)...].starts(with: "//".utf8)
        else { return nil }
        return bytes[(colon + 3)...].firstIndex(of: UInt8(ascii: "/"))
    }

    /// Why the text is not a valid prefix. One that ended inside a host name would also match
    /// `pictures.example.attacker.net`.
    private static func fault(of part: String) -> String? {
        guard schemes.contains(URIScheme.of(part)) else { return "is no http:, https: or file: URI" }
        guard authorityEnd(part) != nil else { return "must have a / after the host" }
        guard !part.utf8.contains(where: { "?#@\\".utf8.contains($0) || $0 <= 0x20 || $0 == 0x7F }) else {
            return "may have no ?, #, @, \\ and no spaces"
        }
        guard URIScheme.of(part) != "file" else { return nil }
        do throws(CurlURL.ParsingError) {
            _ = try HTTPURL(parsing: part)
            return nil
        } catch {
            return "is not a valid URL: \(error.reason)"
        }
    }
}
