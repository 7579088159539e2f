/// The server of a storage: scheme, host and port.
package struct Endpoint: Hashable, Sendable {
    /// `http` or `https`.
    package let scheme: String
    /// In lower case; with the port if it is not the scheme's own, as in the `Host` header.
    package let authority: String

    /// Returns nil for anything but `https://host`, `http://host`, or these with a port or a slash at the end.
    package init?(_ text: String) {
        guard let scheme = ["https", "http"].first(where: { text.lowercased().hasPrefix("\($0)://") }) else {
            return nil
        }
        var authority = text.lowercased().dropFirst(scheme.count + 3)
        if authority.hasSuffix("/") { authority = authority.dropLast() }
        let usual = scheme == "https" ? ":443" : ":80"
        if authority.hasSuffix(usual) { authority = authority.dropLast(usual.count) }
        guard Self.isAuthority(authority) else { return nil }
        (self.scheme, self.authority) = (scheme, String(authority))
    }

    /// - Parameter host: a name in lower case, which answers HTTPS at its usual port.
    package init(secureHost host: String) {
        (scheme, authority) = ("https", host)
    }

    package var text: String { "\(scheme)://\(authority)" }

    /// A name or an address of version 4, or one of version 6 in brackets; perhaps with a port.
    private static func isAuthority(_ text: Substring) -> Bool {
        text.wholeMatch(of: #/(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?/#) != nil
    }
}
