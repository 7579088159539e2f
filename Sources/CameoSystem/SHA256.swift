internal import CCrypto

/// An incremental SHA-256, computed by OpenSSL's libcrypto.
// Sendable: the value is the sole owner of its context, and moves with it.
package struct SHA256: ~Copyable, @unchecked Sendable {
    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("libcrypto has no SHA-256 or no memory for its context")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// The digest as 32 bytes.
    package consuming func bytes() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        EVP_DigestFinal_ex(context, &bytes, nil)
        return bytes
    }
}

/// A secret key for HMAC-SHA256 (RFC 2104).
package struct HMACKey: Hashable, Sendable {
    private let secret: [UInt8]

    package init(_ secret: [UInt8]) { self.secret = secret }

    /// The authentication code of a message, 32 bytes.
    package func code(of message: some Sequence<UInt8>) -> [UInt8] {
        let message = Array(message)
        var code = [UInt8](repeating: 0, count: 32)
        HMAC(EVP_sha256(), secret, Int32(secret.count), message, message.count, &code, nil)
        return code
    }

    /// Compares two codes in a time that does not tell where they differ.
    package static func areSame(_ one: some Sequence<UInt8>, _ other: some Sequence<UInt8>) -> Bool {
        let (one, other) = (Array(one), Array(other))
        return one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}

/// Lower-case hexadecimal, the only spelling that Cameo writes or accepts in digests and ids.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            var index = 0
            for byte in bytes {
                buffer[index] = digits[Int(byte >> 4)]
                buffer[index + 1] = digits[Int(byte & 15)]
                index += 2
            }
            return index
        }
    }

    /// Whether a text has this many digits, and nothing else.
    package static func isValid(_ text: String, count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}
