internal import Foundation
internal import Glibc

/// Decides whether a connection may be opened to an address.
///
/// DESIGN: a source is a stranger's string, and the worker runs inside the network. A host name has no fixed address, so the
/// guard judges the address of each connection right before it is opened (libcurl's CURLOPT_OPENSOCKETFUNCTION), for
/// every redirect. A check of the name, or of a separate look-up, could get a different address than the connection (DNS
/// rebinding).
package struct AddressGuard: Sendable {
    package enum Verdict: Hashable, Sendable {
        case allowed
        /// With the reserved range that contains the address; both are nil for a socket that is neither IPv4 nor IPv6.
        case refused(address: IPAddress?, range: AddressRange?)
    }

    private let exempt: [AddressRange]

    /// - Parameter exempt: private or reserved ranges that are allowed.
    package init(exempt: [AddressRange]) { self.exempt = exempt }

    /// Refuses a `sockaddr` of any family other than IPv4 and IPv6.
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

    private func isExempt(_ address: IPAddress) -> Bool { exempt.contains { $0.contains(address) } }

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
    package init(_ address: IPAddress) { self.init(base: address, length: address.width) }

    private init(base: IPAddress, length: Int) {
        self.base = base.masked(to: length)
        self.length = length
    }

    package func contains(_ address: IPAddress) -> Bool {
        address.width == base.width && address.masked(to: length) == base
    }

    package var description: String { "\(base)/\(length)" }
}

/// A host that is allowed whatever its address is: `name`, `name:port`, `192.0.2.1`, `[::1]:8080` or `::1`.
struct HostExemption: Hashable, Sendable {
    private let host: String
    /// The port; nil for any.
    private let port: Int?

    /// - Throws: ``FetchConfigurationError/host(_:)`` for text that is not a host.
    init(_ text: String) throws(FetchConfigurationError) {
        if let address = IPAddress(text) {
            (host, port) = (address.description, nil)
            return
        }
        var name = Substring(text)
        var port: Int?
        if let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), text.utf8.last != UInt8(ascii: "]") {
            guard let number = UInt16(text[text.utf8.index(after: colon)...]) else { throw .host(text) }
            name = text[..<colon]
            port = Int(number)
        }
        if name.utf8.first == UInt8(ascii: "["), name.utf8.last == UInt8(ascii: "]") {
            guard let address = IPAddress(name.dropFirst().dropLast()) else { throw .host(text) }
            name = Substring(address.description)
        } else if name.isEmpty || name.utf8.contains(where: { ":/?#@[]% ".utf8.contains($0) }) {
            throw .host(text)
        }
        host = name.lowercased()
        self.port = port
    }

    func covers(_ origin: HTTPURL.Origin) -> Bool {
        let name = IPAddress(origin.host)?.description ?? origin.host
        return name == host && (port ?? origin.port) == origin.port
    }
}

/// How a proxy's resolver may understand the host of a URL. Resolvers accept many spellings of an address that RFC 4291 and
/// libcurl do not.
enum HostSpelling: Hashable {
    case address(IPAddress)
    case name
    /// The host ends like an address (https://url.spec.whatwg.org/#ends-in-a-number-checker) but is none, or it contains an
    /// escape: resolvers disagree about it.
    case neither

    /// - Parameter host: the host of an ``HTTPURL``.
    init(_ host: String) {
        if let address = IPAddress(host) {
            self = .address(address)
            return
        }
        let host = Self.plain(host)
        let last = host.split(separator: ".").last ?? ""
        if host == "localhost" || host.hasSuffix(".localhost") {
            self = .address(IPAddress(v4: 0x7F00_0001))  // RFC 6761, section 6.3
        } else if last.isEmpty || host.contains("%") {
            self = .neither
        } else if last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) || last.hasPrefix("0x") {
            var address = in_addr()
            let isAddress = inet_aton(host, &address) == 1
            self = isAddress ? .address(IPAddress(v4: UInt32(bigEndian: address.s_addr))) : .neither
        } else {
            self = .name
        }
    }

    /// The host after the mapping of international names (UTS 46), as far as it yields ASCII: "①" becomes 1, "。" a full
    /// stop, and a soft hyphen is removed. So is the full stop at the end of an absolute name.
    private static func plain(_ host: String) -> String {
        let scalars = host.precomposedStringWithCompatibilityMapping.lowercased().unicodeScalars
            .filter { !$0.properties.isDefaultIgnorableCodePoint }
            .map { $0 == "\u{3002}" ? "." : $0 }
        var text = String(String.UnicodeScalarView(scalars))
        while text.utf8.last == UInt8(ascii: ".") { text.removeLast() }
        return text
    }
}
