package import Foundation

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

/// A recent failure to fetch a source, kept for a while so that the source is not asked again at once.
package struct RememberedFailure: Hashable, Sendable {
    package let failure: JobFailure
    package let since: Date
    package let until: Date
    /// The peers that the fetch connected to; empty if there were none.
    package let peers: [Peer]

    package init(_ failure: JobFailure, since: Date, until: Date, peers: [Peer]) {
        (self.failure, self.since, self.until, self.peers) = (failure, since, until, peers)
    }
}
