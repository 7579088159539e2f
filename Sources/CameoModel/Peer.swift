/// A place on the way to what a server said, and whom the connection was to. By it another worker can tell whether it might
/// have asked there itself.
package struct Peer: Hashable, Sendable {
    package enum Connection: Hashable, Sendable {
        /// To an IP address, as it is written.
        case address(String)
        /// To a proxy, which alone knows what came behind it.
        case proxy
        /// A program's own, by the library, which is not told the address.
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

/// As the store has it: `{"origin":"https://example.com:443","via":"192.0.2.1"}`.
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
