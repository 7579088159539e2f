internal import CameoModel

/// A secret key that signs `/make` URLs with HMAC-SHA256 (RFC 2104).
package struct SigningKey: Sendable {
    /// The fewest bytes in a key; a shorter one could be guessed.
    package static let minimumBytes = 16
    private let key: HMACKey

    /// Returns nil if the secret is shorter than ``minimumBytes``.
    package init?(_ secret: [UInt8]) {
        guard secret.count >= Self.minimumBytes else { return nil }
        self.init(anyLength: secret)
    }

    init(anyLength secret: [UInt8]) {
        key = HMACKey(secret)
    }

    /// The signature of a message, as 64 lower-case hexadecimal digits.
    package func signature(of message: some Sequence<UInt8>) -> String { Hexadecimal.encode(code(of: message)) }

    /// The authentication code of a message: 32 bytes.
    func code(of message: some Sequence<UInt8>) -> [UInt8] {
        key.code(of: message)
    }

    /// Verifies a signature in constant time: the time does not depend on where the two differ.
    func verifies(_ signature: String, of message: some Sequence<UInt8>) -> Bool {
        let (own, given) = (Array(self.signature(of: message).utf8), Array(signature.utf8))
        guard own.count == given.count else { return false }
        return zip(own, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
