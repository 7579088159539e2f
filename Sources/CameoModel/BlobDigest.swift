/// The name of immutable bytes: their SHA-256, written as 64 lower-case hexadecimal digits.
public struct BlobDigest: Hashable, Sendable, CustomStringConvertible {
    /// 64 lower-case hexadecimal digits.
    public let hex: String

    /// - Parameter hex: 64 lower-case hexadecimal digits; anything else returns nil.
    public init?(hex: some StringProtocol) {
        guard hex.utf8.count == 64, hex.utf8.allSatisfy(Hexadecimal.isLowercaseDigit) else { return nil }
        self.hex = String(hex)
    }

    init(bytes: [UInt8]) {
        hex = Hexadecimal.encode(bytes)
    }

    /// `sha256-` followed by the digits.
    public var description: String { "sha256-\(hex)" }
}
