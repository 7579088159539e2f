internal import Foundation

/// A PgBouncer before a test's server. It ends with its last reference, or with the test process.
package final class PgBouncer: Sendable {
    private let channel: OriginChannel
    /// The folder of its socket.
    package let folder: String

    /// - Parameters:
    ///   - server: the server that it pools connections to.
    ///   - size: the most connections.
    ///   - mode: its `pool_mode`.
    /// - Throws: what starting a process throws; ``OriginError`` if it ends.
    package init(before server: PostgreSQLServer, size: Int, mode: String = "transaction") async throws {
        channel = try await .python("pgbouncer.py", [server.folder, String(size), mode])
        folder = try await channel.announcement()
    }

    /// The name of a store, through the pooler.
    package func url(ofSchema schema: String) -> String {
        "postgres://cameo@/postgres?host=\(folder)&port=6432&schema=\(schema)"
    }

    /// Ends it at once, with all its connections.
    package func stop() async throws { try await ask("stop") }

    package func start() async throws { try await ask("start") }

    private func ask(_ command: String) async throws {
        let answer = try await channel.ask(command)
        guard answer == "ok" else { throw PostgreSQLServer.Failure(description: answer) }
    }
}

/// Pgpool-II before a test's server, and a standby to which it sends what only reads. It ends with its last reference, or with
/// the test process.
package final class Pgpool: Sendable {
    private let channel: OriginChannel
    private let folder: String

    /// - Throws: what starting a process throws; ``OriginError`` if it ends.
    package init(before server: PostgreSQLServer) async throws {
        channel = try await .python("pgpool.py", [server.folder])
        folder = try await channel.announcement()
    }

    /// The name of a store, through the pooler.
    package func url(ofSchema schema: String) -> String {
        "postgres://cameo@/postgres?host=\(folder)&port=9999&schema=\(schema)"
    }

    /// The name of a store, on the standby.
    package func standby(ofSchema schema: String) -> String {
        "postgres://cameo@/postgres?host=\(folder)/standby&port=5433&schema=\(schema)"
    }

    /// Makes the standby a server of its own, which goes on where it is.
    ///
    /// - Throws: what starting a process throws; ``ToolFailed``.
    package func promote() async throws {
        let client = ["-h", "\(folder)/standby", "-p", "5433", "-U", "cameo", "-d", "postgres"]
        try await Pictures.tool("psql", client + ["-c", "SELECT pg_promote()"])
    }
}
