/// A store's name on the command line: a folder, as a path or as `sqlite:` and a path, or another engine's URL.
package enum StoreName: Hashable, Sendable {
    /// A folder on this machine.
    case folder(String)
    /// A URL of a PostgreSQL database, for stores that several machines share.
    case database(String)
    /// A URL of an engine that no build includes.
    case unknown(scheme: String)

    package init(_ text: String) {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") || text.hasPrefix("sqlite:"),
            text.first?.isLetter == true,
            text[..<colon].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) })
        else {
            self = .folder(text)
            return
        }
        let scheme = text[..<colon].lowercased()
        let rest = text[text.index(after: colon)...]
        switch scheme {
        case "sqlite": self = .folder(String(rest.hasPrefix("//") ? rest.dropFirst(2) : rest))
        case "postgres", "postgresql": self = .database(text)
        default: self = .unknown(scheme: scheme)
        }
    }

    /// The name of the store to open: the command's option, else `CAMEO_STORE`, else `./cameo-store`.
    package static func chosen(option: String?, environment: [String: String]) -> String {
        option ?? environment["CAMEO_STORE"].flatMap { $0.isEmpty ? nil : $0 } ?? "./cameo-store"
    }
}

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
        // A name or an address of version 4, or one of version 6 in brackets; perhaps with a port.
        let form = #/(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?/#
        guard authority.wholeMatch(of: form) != nil else { return nil }
        (self.scheme, self.authority) = (scheme, String(authority))
    }

    /// - Parameter host: a name in lower case, which answers HTTPS at its usual port.
    package init(secureHost host: String) {
        (scheme, authority) = ("https", host)
    }

    package var text: String { "\(scheme)://\(authority)" }
}
