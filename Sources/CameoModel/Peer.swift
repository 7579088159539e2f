/// One hop on the way to a server's answer: the origin and what the connection was made to. Another worker uses it to
/// decide whether it would have been allowed to connect there itself.
///
/// The stored form: `{"origin":"https://example.com:443","via":"192.0.2.1"}`.
package struct Peer: Hashable, Sendable, Codable {
    package enum Connection: Hashable, Sendable, Codable, RawRepresentable {
        /// Connected to this IP address.
        case address(String)
        /// Connected to a proxy; the address behind it is unknown.
        case proxy
        /// Connected by a program that uses the library, which does not learn the address.
        case program

        package init(rawValue text: String) {
            switch text {
            case "proxy": self = .proxy
            case "program": self = .program
            default: self = .address(text)
            }
        }

        package var rawValue: String {
            switch self {
            case .address(let address): address
            case .proxy: "proxy"
            case .program: "program"
            }
        }
    }

    /// `https://example.com:443`
    package let origin: String
    package let connection: Connection

    package init(origin: String, _ connection: Connection) {
        self.origin = origin
        self.connection = connection
    }

    private enum CodingKeys: String, CodingKey {
        case origin
        case connection = "via"
    }
}

/// The address a server listens on. Text form: `127.0.0.1:8080`, `[::1]:8080`, `:8080` (all IPv4 addresses) or
/// `unix:/run/cameo.sock`.
package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
    case tcp(host: String, port: Int)
    case unix(path: String)

    /// The most bytes in a socket's path (unix(7), `sun_path`).
    private static let longestPath = 107

    /// Returns nil for a malformed address.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard !path.isEmpty, path.utf8.count <= Self.longestPath, !path.utf8.contains(0) else { return nil }
            self = .unix(path: path)
            return
        }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            text[text.index(after: colon)...].first != "+"
        else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        self = .tcp(host: host.isEmpty ? "0.0.0.0" : String(host), port: Int(port))
    }

    /// The text form, which ``init(_:)`` parses.
    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
