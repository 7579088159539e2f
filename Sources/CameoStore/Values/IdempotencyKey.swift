package import CameoModel

/// A client's name for one request, which makes repeating the request harmless.
package struct IdempotencyKey: Hashable, Sendable {
    /// How long a key is remembered, in milliseconds.
    package static let lifetime: Int64 = 86_400_000
    private static let maximumBytes = 255

    /// The key, distinct for each owner.
    package let text: String

    /// Accepts 1 to 255 visible ASCII characters; `owner` is the client that chose them.
    package init(_ text: String, of owner: String) throws(InvalidRequest) {
        guard (1...Self.maximumBytes).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw InvalidRequest(
                path: "Idempotency-Key",
                reason: "must be 1 to \(Self.maximumBytes) visible ASCII characters"
            )
        }
        self.text = "\(owner) \(text)"
    }
}
