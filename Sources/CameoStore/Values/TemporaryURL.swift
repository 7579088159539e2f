/// A URL from which anyone can read bytes until it expires. It is a secret like a password.
package struct TemporaryURL: Hashable, Sendable {
    package let text: String
    /// How long it is still valid.
    package let remaining: Duration

    package init(text: String, remaining: Duration) {
        (self.text, self.remaining) = (text, remaining)
    }
}
