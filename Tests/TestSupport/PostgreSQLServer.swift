internal import Foundation
internal import Synchronization

/// A PostgreSQL server that the tests of this process share: a temporary cluster, on a Unix socket, that ends with the
/// process. Each store has a schema of its own.
package final class PostgreSQLServer: Sendable {
    /// How a server stops: in order, or as if it had crashed.
    package enum Stop: String, Sendable {
        case fast, immediate
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

    /// Starts a server.
    package init() async throws {
        channel = try await .open(running: "/usr/bin/python3", [Repository.file("Tests/TestSupport/postgres.py").path])
        let words = try await channel.announcement().split(separator: " ").map(String.init)
        guard words.count == 2 else { throw Failure(description: words.joined(separator: " ")) }
        (folder, programs) = (words[0], words[1])
    }

    /// The server of this process, started for its first use.
    package static func shared() async throws -> PostgreSQLServer { try await started.value }

    /// The name of a store that does not exist yet.
    package func newURL() -> String {
        url(ofSchema: "test_\(Self.schemas.add(1, ordering: .relaxed).newValue)")
    }

    package func url(ofSchema schema: String) -> String { "postgres://cameo@/postgres?host=\(folder)&schema=\(schema)" }

    package func stop(_ how: Stop) async throws { try await ask("stop \(how.rawValue)") }

    package func start() async throws { try await ask("start") }

    /// Runs statements as a producer or an operator does, and returns what `psql -At` prints.
    package func sql(_ statements: String, schema: String) async throws -> String {
        let result = try await run(
            "\(programs)/psql",
            ["-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-h", folder, "-U", "cameo", "-d", "postgres"],
            input: Data("SET search_path TO \(schema);\n\(statements)\n".utf8)
        )
        guard result.exitStatus == 0 else { throw Failure(description: result.errorText) }
        return result.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func ask(_ command: String) async throws {
        let answer = try await channel.ask(command)
        guard answer == "ok" else { throw Failure(description: answer) }
    }
}
