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
