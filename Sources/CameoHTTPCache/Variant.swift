/// Which requests an answer is for (section 4.1).
package struct Variant: Hashable, Sendable {
    /// Canonical, for a database's column: the field names of `Vary`, and a digest of what the request had in them.
    /// Empty where the answer does not vary.
    package let text: String

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
    package init?(of answers: [HTTPFields], for request: HTTPFields, digest: (String) -> String) { return nil }

    /// - Parameter text: as ``text`` had it.
    package init?(text: String) { return nil }

    package func matches(_ request: HTTPFields, digest: (String) -> String) -> Bool { false }
}
