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
