internal import Foundation

/// A proxy before a real HTTP server that misbehaves on request: see `faulty_proxy.py`. It ends with its last reference,
/// or with the test process.
package final class FaultyProxy: Sendable {
    /// What the proxy does instead of forwarding.
    package struct Fault: Encodable, Sendable {
        var `do`: String
        var count = 1
        var method: String?
        var contains: String?
        var status: Int?
        var code: String?
        var headers: [String: String]?
        var bytes: Int?
        var body: String?
        var codings: [String]?

        /// An error of S3.
        package static func answer(_ status: Int, _ code: String, headers: [String: String]? = nil) -> Fault {
            Fault(do: "answer", status: status, code: code, headers: headers)
        }

        /// The request is read and never answered.
        package static let stall = Fault(do: "stall")
        /// The request is forwarded, and its answer is lost.
        package static let loss = Fault(do: "lose")

        /// The answer ends after so many bytes of its body.
        package static func cut(after bytes: Int) -> Fault { Fault(do: "cut", bytes: bytes) }

        /// The request is forwarded, and answered 200 with another body.
        package static func body(_ text: String, headers: [String: String]? = nil) -> Fault {
            Fault(do: "replace", headers: headers, body: text)
        }

        /// The answer gets content codings that nobody asked for, one after the other: gzip or deflate. Of any other it has the
        /// name alone.
        package static func coded(_ codings: String...) -> Fault { Fault(do: "code", codings: codings) }

        /// The same for the next requests of a method whose target contains a text.
        package func times(_ count: Int, _ method: String? = nil, containing text: String? = nil) -> Fault {
            var fault = self
            (fault.count, fault.method, fault.contains) = (count, method, text)
            return fault
        }
    }

    package let port: Int
    private let channel: OriginChannel

    /// Starts a proxy before the server at this port of 127.0.0.1.
    package static func start(before port: Int) async throws -> FaultyProxy {
        let channel = try await OriginChannel.python("faulty_proxy.py", [String(port)])
        return FaultyProxy(port: try await channel.announcedPort(), channel: channel)
    }

    private init(port: Int, channel: OriginChannel) {
        (self.port, self.channel) = (port, channel)
    }

    /// Adds a fault to those that are still to come.
    package func add(_ fault: Fault) async throws {
        let line = String(decoding: try JSONEncoder().encode(fault), as: UTF8.self)
        let answer = try await channel.ask(line)
        guard answer == "true" else { throw OriginError.unexpected(answer) }
    }

    /// The methods and targets of the requests so far.
    package func requests() async throws -> [String] {
        let answer = try await channel.ask(#"{"ask": "requests"}"#)
        return try JSONDecoder().decode([[String]].self, from: Data(answer.utf8)).map { $0.joined(separator: " ") }
    }

    /// A request as a client sent it.
    package struct Sent: Decodable, Sendable {
        package let method: String
        /// By names in lower case.
        package let headers: [String: String]
        /// Empty if it is longer than 4 KiB.
        package let body: String
    }

    /// The requests so far.
    package func sent() async throws -> [Sent] {
        try JSONDecoder().decode([Sent].self, from: Data(try await channel.ask(#"{"ask": "sent"}"#).utf8))
    }

    /// The number of connections so far.
    package func connections() async throws -> Int {
        let answer = try await channel.ask(#"{"ask": "connections"}"#)
        guard let count = Int(answer) else { throw OriginError.unexpected(answer) }
        return count
    }
}
