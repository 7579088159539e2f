internal import CCrypto
package import Foundation

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

    package consuming func finalize() -> BlobDigest { BlobDigest(bytes: bytes()) }

    /// The digest as 32 bytes.
    package consuming func bytes() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        EVP_DigestFinal_ex(context, &bytes, nil)
        return bytes
    }

    package static func digest(of data: some DataProtocol) -> BlobDigest {
        var hash = SHA256()
        for region in data.regions { region.withUnsafeBytes { hash.update($0) } }
        return hash.finalize()
    }

    /// The first 128 bits of the digest of the RFC 8785 form, as 32 hexadecimal digits.
    package static func shortHex(of json: JSONValue) -> String {
        String(digest(of: json.canonicalBytes).hex.prefix(32))
    }
}

/// The name of immutable bytes: their SHA-256, written as 64 lower-case hexadecimal digits.
public struct BlobDigest: Hashable, Sendable, CustomStringConvertible {
    /// 64 lower-case hexadecimal digits.
    public let hex: String

    /// - Parameter hex: 64 lower-case hexadecimal digits; anything else returns nil.
    public init?(hex: some StringProtocol) {
        // As a String from here on: in a generic type each byte costs a call.
        let hex = String(hex)
        guard hex.utf8.count == 64, hex.utf8.allSatisfy(Hexadecimal.isLowercaseDigit) else { return nil }
        self.hex = hex
    }

    init(bytes: [UInt8]) {
        hex = Hexadecimal.encode(bytes)
    }

    /// - Parameter path: the ``path`` of a digest; anything else returns nil.
    package init?(path: String) {
        guard path.utf8.count == 65, path.dropFirst(2).first == "/" else { return nil }
        self.init(hex: path.prefix(2) + path.dropFirst(3))
    }

    /// Where its bytes are in a store's folder, a shared one or a bucket, split so that no folder grows too large: `ab/cdef…`.
    package var path: String { "\(hex.prefix(2))/\(hex.dropFirst(2))" }

    /// Whether a name is that of a folder of digests: two lower-case hexadecimal digits.
    package static func isFolder(_ name: String) -> Bool {
        name.utf8.count == 2 && name.utf8.allSatisfy(Hexadecimal.isLowercaseDigit)
    }

    /// The digest's 32 bytes in base64.
    package var base64: String {
        func value(_ digit: UInt8) -> UInt8 { digit & 15 + (digit > UInt8(ascii: "9") ? 9 : 0) }
        let digits = Array(hex.utf8)
        let bytes = stride(from: 0, to: 64, by: 2).map { value(digits[$0]) << 4 | value(digits[$0 + 1]) }
        return Data(bytes).base64EncodedString()
    }

    /// `sha256-` followed by the digits.
    public var description: String { "sha256-\(hex)" }
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

    package static func encode(_ bytes: some Collection<UInt8>) -> String {
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

    package static func isLowercaseDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
