package import CameoModel

/// A program's own name for an uploaded picture. Its thumbnails keep their URIs when new bytes are uploaded under the
/// key, and are made again.
package struct CacheKey: Hashable, Sendable {
    package static let maximumBytes = 2_048
    /// Schemes that are reserved for sources in this or a future version.
    private static let schemes = SourceScheme.allCases.map(\.rawValue) + ["ftp", "s3"]

    package let text: String

    /// Accepts 1 to 2048 bytes without control characters that do not begin with a source's scheme.
    package init(_ text: String) throws(InvalidRequest) {
        func refuse(_ reason: String) -> InvalidRequest { InvalidRequest(path: "cacheKey", reason: reason) }
        guard (1...Self.maximumBytes).contains(text.utf8.count) else {
            throw refuse("must have 1 to \(Self.maximumBytes) bytes, not \(text.utf8.count)")
        }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw refuse("has a control character")
        }
        if let scheme = URIScheme.of(text), Self.schemes.contains(scheme) {
            throw refuse("must not begin with \(scheme):, which is a scheme of sources")
        }
        self.text = text
    }

    /// The URI used as a job's source.
    package var uri: String { CameoURI.source(text).text }
}

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
