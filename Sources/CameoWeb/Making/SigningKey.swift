internal import CameoModel

/// A secret key that signs `/make` URLs with HMAC-SHA256 (RFC 2104).
package struct SigningKey: Sendable {
    /// The fewest bytes in a key; a shorter one could be guessed.
    package static let minimumBytes = 16
    private let inner, outer: [UInt8]

    /// Returns nil if the secret is shorter than ``minimumBytes``.
    package init?(_ secret: [UInt8]) {
        guard secret.count >= Self.minimumBytes else { return nil }
        self.init(anyLength: secret)
    }

    init(anyLength secret: [UInt8]) {
        let block = 64
        var key = secret.count > block ? Self.bytes(of: SHA256.digest(of: secret)) : secret
        key += [UInt8](repeating: 0, count: block - key.count)
        inner = key.map { $0 ^ 0x36 }
        outer = key.map { $0 ^ 0x5C }
    }

    /// The signature of a message, as 64 lower-case hexadecimal digits.
    package func signature(of message: some Sequence<UInt8>) -> String { authentication(of: message).hex }

    /// The authentication code of a message: 32 bytes.
    func code(of message: some Sequence<UInt8>) -> [UInt8] { Self.bytes(of: authentication(of: message)) }

    private func authentication(of message: some Sequence<UInt8>) -> BlobDigest {
        SHA256.digest(of: outer + Self.bytes(of: SHA256.digest(of: inner + Array(message))))
    }

    /// Verifies a signature in constant time: the time does not depend on where the two differ.
    func verifies(_ signature: String, of message: some Sequence<UInt8>) -> Bool {
        let (own, given) = (Array(self.signature(of: message).utf8), Array(signature.utf8))
        guard own.count == given.count else { return false }
        return zip(own, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func bytes(of digest: BlobDigest) -> [UInt8] {
        let digits = Array(digest.hex.utf8).map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x61 + 10 }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
