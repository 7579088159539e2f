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

    /// Opens more connections to a socket than the server may open files, each with a request. When the first of them are
    /// answered, an older one sends a body that waits on the disk, reads a file, and needs the tokens to be read again.
    private static let crush = """
        import http.client, os, pathlib, signal, socket, sys, time
        path, pid, tokens, blob = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
        end = time.monotonic() + 60
        def connect():
            while True:
                connection = socket.socket(socket.AF_UNIX)
                try:
                    connection.connect(path)
                    return connection
                except OSError:
                    connection.close()
                    if time.monotonic() > end: raise
        def ask(method, target, token, body=None):
            headers = {"Authorization": "Bearer " + token, "Content-Type": "image/png"}
            older.request(method, target, body, headers)
            answer = older.getresponse()
            return answer.status, len(answer.read())
        older = http.client.HTTPConnection("localhost", timeout=60)
        older.sock = connect()
        ask("GET", "/health/live", "none")
        crowd = [connect() for _ in range(550)]
        for connection in crowd:
            connection.sendall(b"GET /health/live HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
        for connection in crowd[:50]: connection.recv(1)
        print(ask("POST", "/jobs?size=16x16", "0123456789abcdef", bytes(3_000_000))[0], ask("GET", blob, "none"))
        tokens.write_text("test read,enqueue fedcba9876543210\\n")
        os.kill(pid, signal.SIGHUP)
        while time.monotonic() < end and ask("GET", "/jobs", "fedcba9876543210")[0] != 200: pass
        print(ask("GET", "/jobs", "fedcba9876543210")[0])
        """

    @Test func connectionsLeaveDescriptorsForTheRest() async throws {
        let tokens = try folder.write(Data("test read,enqueue \(Self.token)\n".utf8), to: "tokens")
        let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let digest = try await (SQLiteStore(at: folder.path("store")) as any Store).store(bytes, mediaType: "image/png")
        let path = folder.path("socket")
        let options = ["--store", folder.path("store"), "--tokens", tokens, "--listen", "unix:\(path)"]
        let server = try ChildProcess(
            "/usr/bin/prlimit",
            ["--nofile=512", try WebProcess.executable("cameo-web")] + options
        )
        defer { server.killGroup() }
        let arguments = ["-c", Self.crush, path, "\(server.processID)", tokens, "/blob/\(digest)"]
        let client = try await run("/usr/bin/python3", arguments)
        #expect(client.outputText == "201 (200, 3000000)\n200\n", "\(client.errorText)")
        server.send(SIGTERM)
        #expect(await server.ending == .exited(0))
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
