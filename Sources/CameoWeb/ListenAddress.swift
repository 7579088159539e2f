internal import Hummingbird

/// Where a server listens. Text form: `127.0.0.1:8080`, `[::1]:8080`, `:8080` (every address of the machine) or
/// `unix:/run/cameo.sock`.
package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
    case tcp(host: String, port: Int)
    case unix(path: String)

    /// Of a machine that nobody else can reach.
    package static let standard = ListenAddress.tcp(host: "127.0.0.1", port: 8080)
    /// Bytes of a socket's path (unix(7), `sun_path`).
    private static let longestPath = 107

    /// Nil for a text of another form.
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

    /// As ``init(_:)`` reads it.
    package var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }

    var bindAddress: BindAddress {
        switch self {
        case .tcp(let host, let port): .hostname(host, port: port)
        case .unix(let path): .unixDomainSocket(path: path)
        }
    }
}
