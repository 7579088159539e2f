/// A block of addresses in CIDR notation, such as `10.0.0.0/8` or `fc00::/7`.
package struct AddressRange: Hashable, Sendable, CustomStringConvertible {
    private let base: IPAddress
    /// The number of leading bits that are compared.
    private let length: Int

    /// Reads `address/length`, or a single address. Bits after the length are ignored.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let base = IPAddress(first) else { return nil }
        guard parts.count == 2 else {
            self.init(base: base, length: base.width)
            return
        }
        let digits = parts[1]
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(digits), length <= base.width
        else { return nil }
        self.init(base: base, length: length)
    }

    /// The range of a single address.
    package init(_ address: IPAddress) {
        self.init(base: address, length: address.width)
    }

    private init(base: IPAddress, length: Int) {
        switch base {
        case .v4(let bits): self.base = .v4((bits >> (32 - length)) << (32 - length))
        case .v6(let bits): self.base = .v6((bits >> (128 - length)) << (128 - length))
        }
        self.length = length
    }

    package func contains(_ address: IPAddress) -> Bool {
        switch (base, address) {
        case (.v4(let base), .v4(let bits)): (base ^ bits) >> (32 - length) == 0
        case (.v6(let base), .v6(let bits)): (base ^ bits) >> (128 - length) == 0
        default: false
        }
    }

    package var description: String { "\(base)/\(length)" }
}
