/// Which requests an answer is for (section 4.1).
package struct Variant: Hashable, Sendable {
    /// Canonical, for a database's column: the field names of `Vary`, a colon, and a digest of what the request had in
    /// them. Empty where the answer does not vary.
    package let text: String
    /// Nil where the answer does not vary.
    private let fields: VaryingFields?

    /// Nil if no request can be told to match: `Vary: *`.
    ///
    /// - Parameters:
    ///   - answer: may have a `Vary`.
    ///   - request: that it answers.
    ///   - digest: keeps what the request said, which may be secret, out of the text.
    package init?(of answer: HTTPFields, for request: HTTPFields, digest: (String) -> String) {
        self.init(of: [answer], for: request, digest: digest)
    }

    /// Varies on all that any answer of a chain of redirects varies on.
    package init?(of answers: [HTTPFields], for request: HTTPFields, digest: (String) -> String) {
        guard let fields = VaryingFields(of: answers) else { return nil }
        self.fields = fields.names.isEmpty ? nil : fields
        text = self.fields.map { Self.text(of: $0, for: request, digest: digest) } ?? ""
    }

    /// Nil for what ``text`` never is.
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

    /// Whether the answer is also for another request of the same URI. The digest is the one that made the variant.
    package func matches(_ request: HTTPFields, digest: (String) -> String) -> Bool {
        fields.map { text == Self.text(of: $0, for: request, digest: digest) } ?? true
    }

    private static func text(
        of fields: VaryingFields,
        for request: HTTPFields,
        digest: (String) -> String
    ) -> String {
        "\(fields.names.joined(separator: ",")):\(digest(fields.selection(from: request)))"
    }
}
