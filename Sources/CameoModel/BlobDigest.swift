internal import CameoSystem
package import Foundation

/// The name of immutable bytes: their SHA-256, written as 64 lower-case hexadecimal digits.
public struct BlobDigest: Hashable, Sendable, CustomStringConvertible {
    /// 64 lower-case hexadecimal digits.
    public let hex: String

    /// - Parameter hex: 64 lower-case hexadecimal digits; anything else returns nil.
    public init?(hex: some StringProtocol) {
        // As a String from here on: in a generic type each byte costs a call.
        let hex = String(hex)
        guard Hexadecimal.isValid(hex, count: 64) else { return nil }
        self.hex = hex
    }

    init(bytes: [UInt8]) {
        hex = Hexadecimal.encode(bytes)
    }

    package init(of data: some DataProtocol) {
        var hash = SHA256()
        for region in data.regions { region.withUnsafeBytes { hash.update($0) } }
        self = hash.finalize()
    }

    /// - Parameter path: the ``path`` of a digest; anything else returns nil.
    package init?(path: String) {
        guard path.utf8.count == 65, path.dropFirst(2).first == "/" else { return nil }
        self.init(hex: path.prefix(2) + path.dropFirst(3))
    }

    /// Where its bytes are in a store's folder, a shared one or a bucket, split so that no folder grows too large: `ab/cdef…`.
    package var path: String { "\(hex.prefix(2))/\(hex.dropFirst(2))" }

    /// Whether a name is that of a folder of digests: two lower-case hexadecimal digits.
    package static func isFolder(_ name: String) -> Bool { Hexadecimal.isValid(name, count: 2) }

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

extension SHA256 {
    package consuming func finalize() -> BlobDigest { BlobDigest(bytes: bytes()) }

    /// The first 128 bits of the digest of the RFC 8785 form, as 32 hexadecimal digits.
    package static func shortHex(of json: JSONValue) -> String {
        String(BlobDigest(of: json.canonicalBytes).hex.prefix(32))
    }
}
