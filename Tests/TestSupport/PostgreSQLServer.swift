internal import Foundation
internal import Synchronization

/// A PostgreSQL server that the tests of this process share: a temporary cluster, on a Unix socket, that ends with the
/// process. Each store has a schema of its own.
package final class PostgreSQLServer: Sendable {
    /// How a server stops: once all clients have gone, in order, or as if it had crashed.
    package enum Stop: String, Sendable {
        case smart, fast, immediate
    }

    /// What went wrong.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private static let started = Task { try await PostgreSQLServer() }
    private static let schemas = Atomic(0)

    private let channel: OriginChannel
    /// The folder of its socket.
    package let folder: String
    /// The folder of its programs, such as `psql`.
    package let programs: String
    /// The port of 127.0.0.1 on which it speaks TLS as `localhost`; nil if it was not asked to.
    package let port: Int?

    /// Starts a server.
    ///
    /// - Parameter tls: whether it also listens on a port, with a certificate of ``certificateAuthority``.
    /// - Throws: what starting a process throws; ``Failure``, ``OriginError`` if it ends.
    package init(tls: Bool = false) async throws {
        channel = try await .python("postgres.py", tls ? ["--tls"] : [])
        let words = try await channel.announcement().split(separator: " ").map(String.init)
        guard words.count == (tls ? 3 : 2) else { throw Failure(description: words.joined(separator: " ")) }
        (folder, programs, port) = (words[0], words[1], tls ? Int(words[2]) : nil)
    }

    /// The certificate of the authority that certifies the server.
    package var certificateAuthority: String { "\(folder)/ca.pem" }

    /// The server of this process, started for its first use.
    package static func shared() async throws -> PostgreSQLServer { try await started.value }

    /// The name of a store that does not exist yet.
    package func newURL() -> String {
        url(ofSchema: "test_\(Self.schemas.add(1, ordering: .relaxed).newValue)")
    }

    package func url(ofSchema schema: String, user: String = "cameo") -> String {
        "postgres://\(user)@/postgres?host=\(folder)\(port.map { "&port=\($0)" } ?? "")&schema=\(schema)"
    }

    package func stop(_ how: Stop) async throws { try await ask("stop \(how.rawValue)") }

    package func start() async throws { try await ask("start") }

    /// Runs statements as a producer or an operator does, and returns what `psql -At` prints.
    package func sql(_ statements: String, schema: String, user: String = "cameo") async throws -> String {
        let result = try await psql(
            ["-v", "ON_ERROR_STOP=1"],
            input: "SET search_path TO \(schema);\n\(statements)\n",
            user: user
        )
        guard result.exitStatus == 0 else { throw Failure(description: result.errorText) }
        return result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs `psql -At`.
    package func psql(_ arguments: [String], input: String = "", user: String = "cameo") async throws -> ProcessResult {
        try await run(
            "\(programs)/psql",
            ["-X", "-q", "-At", "-h", folder, "-p", String(port ?? 5432), "-U", user, "-d", "postgres"] + arguments,
            input: Data(input.utf8)
        )
    }

    private func ask(_ command: String) async throws {
        let answer = try await channel.ask(command)
        guard answer == "ok" else { throw Failure(description: answer) }
    }
}
