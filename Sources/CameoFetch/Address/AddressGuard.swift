/// Decides whether a connection may be opened to an address.
///
/// DESIGN: a source is a stranger's string, and the worker runs inside the network. A host name has no fixed address, so the
/// guard judges the address of each connection right before it is opened (libcurl's CURLOPT_OPENSOCKETFUNCTION), for
/// every redirect. A check of the name, or of a separate look-up, could get a different address than the connection (DNS
/// rebinding).
package struct AddressGuard: Sendable {
    package enum Verdict: Hashable, Sendable {
        case allowed
        /// - Parameters:
        ///   - address: nil for a socket that is neither IPv4 nor IPv6.
        ///   - range: the reserved range that contains it.
        case refused(address: IPAddress?, range: AddressRange?)
    }

    private let exempt: [AddressRange]

    /// - Parameter exempt: private or reserved ranges that are allowed.
    package init(exempt: [AddressRange]) {
        self.exempt = exempt
    }

    /// - Parameter bytes: a `sockaddr` of any family.
    /// - Returns: `refused` for any family other than IPv4 and IPv6.
    package func judge(socketAddress bytes: UnsafeRawBufferPointer) -> Verdict {
        guard let address = IPAddress(socketAddress: bytes) else { return .refused(address: nil, range: nil) }
        return judge(address)
    }

    /// The address and every IPv4 address embedded in it must be public or exempt. Exempting an IPv6 address also exempts the
    /// embedded ones.
    package func judge(_ address: IPAddress) -> Verdict {
        guard !isExempt(address) else { return .allowed }
        for candidate in [address] + address.embedded where !isExempt(candidate) {
            if let range = Self.reserved.first(where: { $0.contains(candidate) }) {
                return .refused(address: address, range: range)
            }
        }
        return .allowed
    }

    private func isExempt(_ address: IPAddress) -> Bool {
        exempt.contains { $0.contains(address) }
    }

    /// The ranges that the IANA special-purpose registries (RFC 6890) list as not globally reachable, multicast, the former
    /// site-local and 6to4 relay addresses, and 168.63.129.16, the public address at which an Azure machine reaches its own
    /// host.
    package static let reserved: [AddressRange] = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "2001:2::/48", "2001:10::/28", "2001:db8::/32",
        "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    ].map { text in
        guard let range = AddressRange(text) else { preconditionFailure("\(text) is not a range") }
        return range
    }
}
