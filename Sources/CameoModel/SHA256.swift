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
