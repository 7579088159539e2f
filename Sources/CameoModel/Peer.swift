/// One hop on the way to a server's answer: the origin and what the connection was made to. Another worker uses it to
/// decide whether it would have been allowed to connect there itself.
package struct Peer: Hashable, Sendable {
    package enum Connection: Hashable, Sendable {
        /// Connected to this IP address.
        case address(String)
        /// Connected to a proxy; the address behind it is unknown.
        case proxy
        /// Connected by a program that uses the library, which does not learn the address.
        case program
    }

    /// `https://example.com:443`
    package let origin: String
    package let connection: Connection

    package init(origin: String, _ connection: Connection) {
        self.origin = origin
        self.connection = connection
    }
}

/// The stored form: `{"origin":"https://example.com:443","via":"192.0.2.1"}`.
extension Peer: Codable {
    private enum CodingKeys: String, CodingKey {
        case origin, via
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        origin = try container.decode(String.self, forKey: .origin)
        switch try container.decode(String.self, forKey: .via) {
        case "proxy": connection = .proxy
        case "program": connection = .program
        case let address: connection = .address(address)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(origin, forKey: .origin)
        switch connection {
        case .address(let address): try container.encode(address, forKey: .via)
        case .proxy: try container.encode("proxy", forKey: .via)
        case .program: try container.encode("program", forKey: .via)
        }
    }
}
