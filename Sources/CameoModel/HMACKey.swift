/// A secret key for HMAC-SHA256 (RFC 2104).
package struct HMACKey: Hashable, Sendable {
    private static let block = 64
    private let inner, outer: [UInt8]

    package init(_ secret: [UInt8]) {
        var key = secret.count > Self.block ? Self.digest(secret) : secret
        key += [UInt8](repeating: 0, count: Self.block - key.count)
        inner = key.map { $0 ^ 0x36 }
        outer = key.map { $0 ^ 0x5C }
    }

    /// The authentication code of a message, 32 bytes.
    package func code(of message: some Sequence<UInt8>) -> [UInt8] {
        Self.digest(outer + Self.digest(inner + Array(message)))
    }

    private static func digest(_ bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update($0) }
        return hash.bytes()
    }
}
