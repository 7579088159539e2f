internal import Foundation

/// A real HTTP server on 127.0.0.1, in a process of its own, that behaves well and badly on request: see `origin.py`
/// for its routes. It ends with its last reference, or with the test process.
package final class Origin: Sendable {
    package let port: Int
    private let scheme: String
    let channel: OriginChannel

    /// - Parameters:
    ///   - folder: whose files `/picture.jpg?file=NAME` serves.
    ///   - tls: a folder in which it makes a certificate for `localhost` (`origin.pem`) to serve `https:` with.
    ///   - isExpired: whether that certificate has ended.
    /// - Returns: a server that answers.
    /// - Throws: what starting a process throws, and ``OriginError``.
    package static func start(
        serving folder: String? = nil,
        tls: String? = nil,
        isExpired: Bool = false
    ) async throws -> Origin {
        var arguments: [String] = []
        if let folder { arguments += ["--folder", folder] }
        if let tls { arguments += ["--tls", tls] + (isExpired ? ["--expired"] : []) }
        let channel = try await OriginChannel.python("origin.py", arguments)
        return Origin(port: try await channel.announcedPort(), scheme: tls == nil ? "http" : "https", channel: channel)
    }

    private init(port: Int, scheme: String, channel: OriginChannel) {
        self.port = port
        self.scheme = scheme
        self.channel = channel
    }

    /// - Parameters:
    ///   - path: a route with its query, from the slash on.
    ///   - host: another name of this machine, or `user:password@` before one.
    /// - Returns: its URL here.
    package func url(_ path: String, host: String = "127.0.0.1") -> String { "\(scheme)://\(host):\(port)\(path)" }

    /// What was asked of the server so far.
    package func counts() async throws -> OriginCounts {
        let answer = try await channel.ask("counts")
        return try JSONDecoder().decode(OriginCounts.self, from: Data(answer.utf8))
    }

    /// Returns when so many requests for the path have arrived in all.
    package func awaitArrivals(of path: String, count: Int = 1) async throws {
        try await wait(for: "arrivals", path, count)
    }

    /// Returns when so many clients have hung up in the middle of an answer from the path.
    package func awaitAborts(of path: String, count: Int = 1) async throws {
        try await wait(for: "aborts", path, count)
    }

    /// Lets `/held` answer, now and from now on.
    package func release() async throws {
        _ = try await channel.ask("release")
    }

    private func wait(for event: String, _ path: String, _ count: Int) async throws {
        let answer = try await channel.ask("await \(event) \(path) \(count)")
        guard answer.contains("true") else { throw OriginError.unexpected("no \(count) \(event) of \(path)") }
    }
}
