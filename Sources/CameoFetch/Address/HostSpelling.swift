internal import Foundation
internal import Glibc

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
            self = .address(.v4(0x7F00_0001))  // RFC 6761, section 6.3
        } else if last.isEmpty || host.contains("%") {
            self = .neither
        } else if last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) || last.hasPrefix("0x") {
            var address = in_addr()
            self = inet_aton(host, &address) == 1 ? .address(.v4(UInt32(bigEndian: address.s_addr))) : .neither
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
