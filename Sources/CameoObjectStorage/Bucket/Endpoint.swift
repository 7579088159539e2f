/// The server of a storage: scheme, host and port.
struct Endpoint: Hashable, Sendable {
    /// `http` or `https`.
    let scheme: String
    /// In lower case; with the port if it is not the scheme's own, as in the `Host` header.
    let authority: String

    /// Returns nil for anything but `https://host`, `http://host`, or these with a port or a slash at the end.
    init?(_ text: String) {
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

    private init(authority: String) {
        (scheme, self.authority) = ("https", authority)
    }

    /// The endpoint of S3 itself in a region.
    static func aws(region: String) -> Endpoint {
        Endpoint(authority: "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")")
    }

    var text: String { "\(scheme)://\(authority)" }

    /// A name or an address of version 4, or one of version 6 in brackets; perhaps with a port.
    private static func isAuthority(_ text: Substring) -> Bool {
        text.wholeMatch(of: #/(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?/#) != nil
    }
}
