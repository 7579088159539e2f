import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

/// A server among many clients, and on a store in trouble: it answers or refuses by name, and serves on.
@Suite(.timeLimit(.minutes(10)))
struct TroubleTests {
    private static let token = "0123456789abcdef"
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(environment: [String: String?] = [:]) async throws -> WebProcess {
        let tokens = try folder.write(Data("test read,enqueue \(Self.token)\n".utf8), to: "tokens")
        let arguments = ["--store", folder.path("store"), "--listen", "127.0.0.1:0", "--tokens", tokens]
        return try await WebProcess.start(arguments, environment: environment)
    }

    /// Requests a thumbnail; returns the status and the body.
    private func enqueue(_ server: WebProcess, width: Int) async throws -> (status: String, body: String) {
        let request = #"{"source":"initials:AB","renditions":[{"width":\#(width)}]}"#
        let arguments = ["-H", "Content-Type: application/json", "-d", request, "\(server.url)jobs"]
        let words = try await curl(["-w", "\n%{http_code}"] + arguments).split(separator: "\n")
        return (String(try #require(words.last)), words.dropLast().joined())
    }

    private func curl(_ arguments: [String]) async throws -> String {
        try await run("curl", ["-sS", "-H", "Authorization: Bearer \(Self.token)"] + arguments).outputText
    }

    /// Opens 1,000 connections, of which every tenth begins a request, and then loads a page ten times.
    private static let crowd = """
        import resource, socket, sys, urllib.request
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        url = sys.argv[1]
        port = int(url.split(":")[2].rstrip("/"))
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(1000)]
        for connection in idle[::10]:
            connection.sendall(b"GET /health/live HTTP/1.1\\r\\nHost:")
        print([urllib.request.urlopen(url + "health/live").status for _ in range(10)].count(200))
        """

    @Test func aThousandIdleConnectionsHoldNobodyUp() async throws {
        let server = try await start()
        defer { server.process.killGroup() }
        let client = try await run("/usr/bin/python3", ["-c", Self.crowd, server.url])
        #expect(client.outputText == "10\n", "\(client.errorText)")
        server.process.send(SIGTERM)
        #expect(await server.process.ending == .exited(0))
    }

    /// A client that asks for a large blob and reads none of it.
    @Test func aSlowReaderHoldsNobodyUp() async throws {
        let bytes = Data((0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let digest = try await (SQLiteStore(at: folder.path("store")) as any Store).store(bytes, mediaType: "image/png")
        let server = try await start()
        defer { server.process.killGroup() }
        let port = try #require(UInt16(server.url.dropLast().split(separator: ":").last ?? ""))
        let path = "/blob/sha256-\(digest.hex)"
        let slow = try await WebBench.blocking { try (0..<50).map { _ in try RawConnection(port: port) } }
        for reader in slow { reader.send(Data("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n".utf8)) }
        for _ in 0..<3 {
            #expect(
                try await curl(["-o", "/dev/null", "-w", "%{size_download}", server.url + path.dropFirst()])
                    == "20000000"
            )
        }
        withExtendedLifetime(slow) {}
    }

    @Test func aStoreThatIsLockedRefusesWritesByNameAndIsRead() async throws {
        let server = try await start(environment: ["CAMEO_TEST_PATIENCE_MS": "200"])
        defer { server.process.killGroup() }
        #expect(try await enqueue(server, width: 16).status == "201")
        let lock = ".timeout 60000\nBEGIN IMMEDIATE;\n.print locked\n.shell sleep 3600\n"
        let holder = try ChildProcess("sqlite3", [folder.path("store/cameo.sqlite")], input: Data(lock.utf8))
        defer { holder.killGroup() }
        try await eventually("the lock is held") { !holder.standardOutput.isEmpty }
        let refused = try await enqueue(server, width: 17)
        #expect(refused.status == "503" && refused.body.contains(#""code":"store.failed""#), "\(refused.body)")
        #expect(try await curl(["-w", "%{http_code}", "-o", "/dev/null", "\(server.url)jobs/1"]) == "200")
        #expect(try await curl(["\(server.url)health/live"]) == "{\"status\":\"ok\"}\n")
        holder.killGroup()
        _ = await holder.ending
        #expect(try await enqueue(server, width: 18).status == "201")
    }
}
