internal import Glibc
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

// DESIGN. Where no token is needed, a page of another site could read everything: its name is made to lead to this server
// (DNS rebinding), and its scripts are then of the same origin. The browser tells the name in `Host`. It tells an address
// only if the page came from there, so addresses cannot be rebound. A socket is out of a browser's reach.

/// The host that a request names.
package struct HostName: Hashable, Sendable {
    /// In lower case; an IPv6 address is in brackets.
    private let text: String

    /// Parses `Host`: a name or an address, and perhaps a port (RFC 9110, section 7.2). Returns nil for anything else.
    package init?(_ field: some StringProtocol) {
        let bracket = field.hasPrefix("[") ? field.firstIndex(of: "]").map { field.index(after: $0) } : nil
        let end = bracket ?? field.firstIndex(of: ":") ?? field.endIndex
        let (host, port) = (field[..<end], field[end...])
        let marks: Set = bracket == nil ? Set("-._~%!$&'()*+,;=") : Set(".:[]")
        guard !host.isEmpty,
            host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) || marks.contains($0) }),
            port.isEmpty || port.first == ":" && port.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber })
        else { return nil }
        text = host.lowercased()
    }

    /// Whether no page of another site can have this name.
    var isLocalOrAddress: Bool {
        let name = text.hasSuffix(".") ? text.dropLast() : text[...]
        var address = in6_addr()
        return name == "localhost" || name.hasSuffix(".localhost")
            || inet_pton(AF_INET, text, &address) == 1
            || text.hasPrefix("[") && inet_pton(AF_INET6, String(text.dropFirst().dropLast()), &address) == 1
    }

    /// Requires that a request names this server: any host if there are tokens, or on a socket.
    ///
    /// - Throws: ``Problem`` with status 400 or 421.
    static func check(_ request: Request, on channel: any Channel, _ configuration: WebConfiguration) throws(Problem) {
        // The first one is the authority, and any other is left among the fields.
        let others = request.headers.contains { $0.name.canonicalName == "host" }
        guard let authority = request.head.authority, !others else {
            throw Problem(.badRequest, "there must be one Host field")
        }
        guard let host = HostName(authority) else { throw Problem(.badRequest, "Host: must be a name or an address") }
        guard configuration.tokens.isEmpty, !host.isLocalOrAddress, !configuration.hosts.contains(host),
            channel.localAddress?.pathname == nil
        else { return }
        throw Problem(
            .misdirectedRequest,
            "this server does not answer to the name \(host.text): it was started without --tokens and --host \(host.text)"
        )
    }
}
