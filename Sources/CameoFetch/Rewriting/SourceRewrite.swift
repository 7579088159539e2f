internal import CameoModel

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
        do throws(HTTPURL.ParsingError) {
            _ = try HTTPURL(parsing: part)
            return nil
        } catch {
            return "is not a valid URL: \(error.reason)"
        }
    }
}
