internal import CameoModel
internal import Foundation

/// Which requests a response may answer (section 4.1).
package struct Variant: Hashable, Sendable {
    /// The canonical form, for a database column: the field names of `Vary`, a colon, and a digest of the request's values.
    /// Empty for a response that does not vary.
    package let text: String
    /// Nil for a response that does not vary.
    private let fields: VaryingFields?

    /// Returns nil if no request can be said to match: `Vary: *`.
    ///
    /// - Parameters:
    ///   - answer: the response's fields.
    ///   - request: the fields of the request that it answers.
    ///   - digest: keeps the request's values, which may be secret, out of the text.
    package init?(
        of answer: HTTPFields,
        for request: HTTPFields,
        digest: (String) -> String = Variant.digest
    ) {
        self.init(of: [answer], for: request, digest: digest)
    }

    /// The variant of a chain of redirects, which varies on every field that one of its responses varies on.
    package init?(
        of answers: [HTTPFields],
        for request: HTTPFields,
        digest: (String) -> String = Variant.digest
    ) {
        guard let fields = VaryingFields(of: answers) else { return nil }
        self.fields = fields.names.isEmpty ? nil : fields
        text = self.fields.map { Self.text(of: $0, for: request, digest: digest) } ?? ""
    }

    /// Returns nil for text that ``text`` never is.
    package init?(text: String) {
        self.text = text
        guard !text.isEmpty else {
            fields = nil
            return
        }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let names = text.utf8[..<colon].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard let fields = VaryingFields(names: names.map { String(decoding: $0, as: UTF8.self) }) else { return nil }
        self.fields = fields
    }

    /// Whether the response may answer another request for the same URI. The digest must be the one that made the variant.
    package func matches(_ request: HTTPFields, digest: (String) -> String = Variant.digest) -> Bool {
        fields.map { text == Self.text(of: $0, for: request, digest: digest) } ?? true
    }

    /// Keeps a request's values, which may be secret, out of the store.
    package static func digest(_ text: String) -> String { SHA256.digest(of: Data(text.utf8)).hex }

    private static func text(
        of fields: VaryingFields,
        for request: HTTPFields,
        digest: (String) -> String
    ) -> String {
        "\(fields.names.joined(separator: ",")):\(digest(fields.selection(from: request)))"
    }
}
