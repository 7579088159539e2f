/// A host that is allowed whatever its address is: `name`, `name:port`, `192.0.2.1`, `[::1]:8080` or `::1`.
struct HostExemption: Hashable, Sendable {
    private let host: String
    /// The port; nil for any.
    private let port: Int?

    /// Returns nil for text that is not a host.
    init?(_ text: String) {
        if let address = IPAddress(text) {
            (host, port) = (address.description, nil)
            return
        }
        var name = Substring(text)
        var port: Int?
        if let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), text.utf8.last != UInt8(ascii: "]") {
            guard let number = UInt16(text[text.utf8.index(after: colon)...]) else { return nil }
            name = text[..<colon]
            port = Int(number)
        }
        if name.utf8.first == UInt8(ascii: "["), name.utf8.last == UInt8(ascii: "]") {
            guard let address = IPAddress(name.dropFirst().dropLast()) else { return nil }
            name = Substring(address.description)
        } else if name.isEmpty || name.utf8.contains(where: { ":/?#@[]% ".utf8.contains($0) }) {
            return nil
        }
        host = name.lowercased()
        self.port = port
    }

    func covers(_ origin: HTTPURL.Origin) -> Bool {
        let name = IPAddress(origin.host)?.description ?? origin.host
        return name == host && (port ?? origin.port) == origin.port
    }
}
