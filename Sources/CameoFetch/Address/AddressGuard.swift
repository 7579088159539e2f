/// Decides whether a connection may be opened to an address.
///
/// DESIGN: a source is a string of a stranger, and the worker stands inside the network. What a host name means is
/// known only after it was looked up, so this judges the address that is about to be connected to (libcurl's
/// CURLOPT_OPENSOCKETFUNCTION), at every connection of every redirect hop. A check of the name, or of a look-up of our
/// own, would be answered differently the next time it is asked (DNS rebinding).
package struct AddressGuard: Sendable {
    package enum Verdict: Hashable, Sendable {
        case allowed
        /// - Parameters:
        ///   - address: nil for a socket that is neither IPv4 nor IPv6.
        ///   - range: the reserved range that it lies in.
        case refused(address: IPAddress?, range: AddressRange?)
    }

    private let exempt: [AddressRange]

    /// - Parameter exempt: ranges that may be connected to although they are private or reserved.
    package init(exempt: [AddressRange]) {
        self.exempt = exempt
    }

    /// - Parameter bytes: a `sockaddr` of any family.
    /// - Returns: `refused` for what is no internet address.
    package func judge(socketAddress bytes: UnsafeRawBufferPointer) -> Verdict {
        guard let address = IPAddress(socketAddress: bytes) else { return .refused(address: nil, range: nil) }
        return judge(address)
    }

    /// The address and every IPv4 address inside it must be public or exempt; exempting an IPv6 address exempts what
    /// it carries.
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

    /// What the IANA special-purpose registries (RFC 6890) call not globally reachable, with multicast, the former
    /// site-local and 6to4 relay addresses, and the one public address behind which a machine of Azure's finds what is for
    /// itself alone (168.63.129.16).
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
