internal import Foundation
internal import Glibc

/// What a host is to whoever will look it up: a proxy, whose resolver takes much for an address that is none to RFC 4291
/// and to libcurl, as it stands in a URL.
enum HostSpelling: Hashable {
    case address(IPAddress)
    case name
    /// Ends like an address (https://url.spec.whatwg.org/#ends-in-a-number-checker) and is none, or has an escape left:
    /// nobody can tell what somebody else makes of it.
    case neither

    /// - Parameter host: as ``HTTPURL`` has it.
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

    /// As the mapping of international names has it (UTS 46), as far as it leads to ASCII: "①" is a 1, "。" a full stop, and a
    /// soft hyphen nothing. Without the full stop that makes a name absolute.
    private static func plain(_ host: String) -> String {
        let scalars = host.precomposedStringWithCompatibilityMapping.lowercased().unicodeScalars
            .filter { !$0.properties.isDefaultIgnorableCodePoint }
            .map { $0 == "\u{3002}" ? "." : $0 }
        var text = String(String.UnicodeScalarView(scalars))
        while text.utf8.last == UInt8(ascii: ".") { text.removeLast() }
        return text
    }
}
