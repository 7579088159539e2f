import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

/// The command itself, as a process.
@Suite(.timeLimit(.minutes(10)))
struct CommandTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func web(_ arguments: [String], store: String? = nil) async throws -> ProcessResult {
        let words = ["--store", store ?? folder.path("store")] + arguments
        return try await run(try WebProcess.executable("cameo-web"), words, timeout: .seconds(120))
    }

    private func start(_ arguments: String..., environment: [String: String?] = [:]) async throws -> (
        ChildProcess, String
    ) {
        let all = ["--store", folder.path("store")] + arguments
        let web = try await WebProcess.start(all, environment: environment)
        return (web.process, web.url)
    }

    private func end(_ process: ChildProcess, by signal: Int32 = SIGTERM) async {
        process.send(signal)
        #expect(await process.ending == .exited(0), "\(String(decoding: process.standardError, as: UTF8.self))")
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func itPrintsItsAddressAndEndsBySignal(signal: Int32) async throws {
        let (process, url) = try await start("--listen", "127.0.0.1:0", "--base-path", "/cameo")
        let port = try #require(url.wholeMatch(of: #/http:\/\/127\.0\.0\.1:(\d+)\/cameo\//#)?.1)
        let answer = try await run("curl", ["-sS", "http://127.0.0.1:\(port)/cameo/health/live"])
        #expect(answer.outputText == "{\"status\":\"ok\"}\n", "\(answer.errorText)")
        await end(process, by: signal)
    }

    /// A request that waits is answered at once when the server is to end.
    @Test func aWaitEndsWithTheServer() async throws {
        let (process, url) = try await start("--listen", "127.0.0.1:0")
        let target = "\(url)thumb/00000000000000000000000000000000?wait=30s"
        async let answer = run("curl", ["-sS", "-o", "/dev/null", "-w", "%{http_code} %{time_total}", target])
        // It is there once it is counted as a connection; its answer is not.
        try await eventually("it answers") { try await run("curl", ["-sS", "\(url)health/live"]).exitStatus == 0 }
        await end(process)
        let text = try await answer.outputText
        #expect(text.hasPrefix("404") || text.hasPrefix("000"), "\(text)")
    }

    /// Starts a server, and a client that asks for a blob of this size and reads no more than its beginning.
    private func transfer(_ size: Int, grace: String) async throws -> (
        process: ChildProcess, port: UInt16, connection: RawConnection, path: String, beginning: Data
    ) {
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let digest = try await (SQLiteStore(at: folder.path("store")) as any Store).store(bytes, mediaType: "image/png")
        let (process, url) = try await start("--listen", "127.0.0.1:0", "--grace", grace)
        let port = try #require(URL(string: url)?.port.flatMap { UInt16(exactly: $0) })
        let connection = try await WebBench.blocking { try RawConnection(port: port, room: 16_384) }
        connection.send(Data("GET /blob/\(digest) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
        let beginning = try #require(try await WebBench.blocking { try connection.receive() })
        return (process, port, connection, "/blob/\(digest)", beginning)
    }

    /// The server has written the whole of the smaller one before it is told to end, but the system has not taken it.
    @Test(arguments: [250_000, 1_000_000])
    func aSlowReaderGetsTheWholeResponse(size: Int) async throws {
        let (process, port, connection, _, beginning) = try await transfer(size, grace: "60s")
        defer { process.killGroup() }
        process.send(SIGTERM)
        try await eventually("it accepts nobody") {
            (try? await WebBench.blocking { try RawConnection(port: port) }) == nil
        }
        let rest = try await WebBench.blocking { try connection.exchange(Data()) }
        let answer = try RawAnswer(beginning + rest)
        #expect(answer.status == 200 && answer.body.count == size)
        #expect(await process.ending == .exited(0))
    }

    /// What is cut off after the grace is logged.
    @Test func aTransferThatOutlastsTheGraceIsLogged() async throws {
        let (process, _, connection, path, _) = try await transfer(20_000_000, grace: "100ms")
        defer { process.killGroup() }
        await end(process)
        let log = String(decoding: process.standardError, as: UTF8.self)
        #expect(log.contains("cut off") && log.contains(path), "\(log)")
        withExtendedLifetime(connection) {}
    }

    /// A stream is ended, not cut off.
    @Test func anEventStreamEndsWithTheServer() async throws {
        let (process, url) = try await start("--listen", "127.0.0.1:0")
        let stream = try ChildProcess("/usr/bin/curl", ["-sSN", "\(url)events"])
        try await eventually("the stream begins") {
            String(decoding: stream.standardOutput, as: UTF8.self).hasSuffix("\n\n")
        }
        await end(process)
        #expect(await stream.ending == .exited(0))
    }

    @Test(arguments: ["", "unix"])
    func aSocketOfSystemdIsTaken(kind: String) async throws {
        let path = folder.path("activated")
        let port = try RawConnection.freePort()
        let process = try ChildProcess(
            "/usr/bin/systemd-socket-activate",
            [
                "--listen", kind == "unix" ? path : "127.0.0.1:\(port)", try WebProcess.executable("cameo-web"),
                "--store",
                folder.path("store"),
            ]
        )
        // It listens before the server runs, and the first connection starts it.
        let target = kind == "unix" ? ["--unix-socket", path, "http://x"] : ["http://127.0.0.1:\(port)"]
        func get(_ path: String, _ options: String...) async throws -> String {
            let words = Array(target.dropLast()) + [target[target.count - 1] + path]
            return try await run("curl", ["-sS"] + options + words).outputText
        }
        let answer = try await get("/health/live", "--retry", "100", "--retry-delay", "0", "--retry-all-errors")
        #expect(answer == "{\"status\":\"ok\"}\n")
        let printed = String(decoding: process.standardOutput, as: UTF8.self)
        #expect(printed == (kind == "unix" ? "unix:\(path)\n" : "http://127.0.0.1:\(port)/\n"))
        async let waiting = get("/thumb/00000000000000000000000000000000?wait=30s")
        #expect(try await get("/metrics").contains("cameo_build"))
        await end(process)
        _ = try await waiting
    }

    @Test func allSocketsOfSystemdAreServed() async throws {
        let (path, ports) = (folder.path("activated"), try (0..<2).map { _ in try RawConnection.freePort() })
        let listening = ["127.0.0.1:\(ports[0])", path, "127.0.0.1:\(ports[1])"].flatMap { ["--listen", $0] }
        let program = [try WebProcess.executable("cameo-web"), "--store", folder.path("store")]
        let process = try ChildProcess("/usr/bin/systemd-socket-activate", listening + program)
        defer { process.killGroup() }
        let targets = ports.map { ["http://127.0.0.1:\($0)"] } + [["--unix-socket", path, "http://x"]]
        for target in targets {
            let retrying = ["--retry", "100", "--retry-delay", "0", "--retry-all-errors", "--retry-max-time", "60"]
            let words = ["-sS", "-m", "60"] + retrying
            let answer = try await run("curl", words + target.dropLast() + [target[target.count - 1] + "/health/live"])
            #expect(answer.outputText == "{\"status\":\"ok\"}\n", "\(target): \(answer.errorText)")
        }
        let urls = String(decoding: process.standardOutput, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(Set(urls) == Set(ports.map { "http://127.0.0.1:\($0)/" } + ["unix:\(path)"]))
        await end(process)
    }

    /// A parent that passes what is no socket is told so, and no other socket is left without an answer.
    @Test func whatIsNoSocketIsNamed() async throws {
        let script = """
            import os, socket, sys
            listener = socket.create_server(("127.0.0.1", 0))
            file = os.open("/dev/null", os.O_RDWR)
            for number, one in enumerate((listener.fileno(), file), 3):
                os.dup2(one, number + 10)
            for number in (3, 4):
                os.dup2(number + 10, number)
            os.environ.update(LISTEN_FDS="2", LISTEN_PID=str(os.getpid()))
            os.execv(sys.argv[1], sys.argv[1:])
            """
        let words = ["-c", script, try WebProcess.executable("cameo-web"), "--store", folder.path("store")]
        let result = try await run("/usr/bin/python3", words, timeout: .seconds(120))
        #expect(result.exitStatus == 1, "\(result.errorText)")
        #expect(result.errorText.contains("cannot listen on descriptor 4"), "\(result.errorText)")
    }

    @Test func tokensAreRereadAtSIGHUP() async throws {
        let file = try folder.write(Data("old read old-0123456789abcdef".utf8), to: "tokens")
        let (process, url) = try await start("--listen", "127.0.0.1:0", "--tokens", file)
        func access(_ token: String) async throws -> String {
            try await run("curl", ["-sS", "-H", "Authorization: Bearer \(token)-0123456789abcdef", "\(url)access"])
                .outputText
        }
        #expect(try await access("old").contains("\"read\":true"))
        // A file with a mistake changes nothing.
        _ = try folder.write(Data("new fly new-0123456789abcdef".utf8), to: "tokens")
        process.send(SIGHUP)
        try await eventually("the mistake is told of") {
            String(decoding: process.standardError, as: UTF8.self).contains("not reread")
        }
        #expect(try await access("old").contains("\"read\":true"))
        _ = try folder.write(Data("new read,operate new-0123456789abcdef".utf8), to: "tokens")
        process.send(SIGHUP)
        try await eventually("the tokens are reread") { try await access("new").contains("\"operate\":true") }
        #expect(try await access("old").contains("\"read\":false"))
        await end(process)
    }

    @Test func itListensOnASocket() async throws {
        let path = folder.path("s")
        let (process, url) = try await start("--listen", "unix:\(path)")
        #expect(url == "unix:\(path)")
        func get() async throws -> String {
            try await run("curl", ["-sS", "--unix-socket", path, "http://x/health/live"]).outputText
        }
        #expect(try await get() == "{\"status\":\"ok\"}\n")
        // It is nobody else's.
        let second = try await web(["--listen", "unix:\(path)"])
        #expect(second.exitStatus == 1)
        #expect(second.errorText.contains("cannot listen on unix:\(path): another server listens on it"))
        #expect(try await get() == "{\"status\":\"ok\"}\n")
        await end(process)
    }

    /// One that a killed server has left is taken.
    @Test func aSocketThatNobodyListensOnIsTaken() async throws {
        let path = folder.path("s")
        let (killed, _) = try await start("--listen", "unix:\(path)")
        killed.send(SIGKILL)
        _ = await killed.ending
        #expect(FileManager.default.fileExists(atPath: path))
        // Of many that start at once, one has it.
        let servers = try (0..<4).map { _ in
            try ChildProcess(
                try WebProcess.executable("cameo-web"),
                ["--store", folder.path("store"), "--listen", "unix:\(path)"]
            )
        }
        defer { for server in servers { server.killGroup() } }
        try await eventually("one serves") { servers.contains { !$0.standardOutput.isEmpty } }
        try await eventually("the others are refused") {
            servers.count { String(decoding: $0.standardError, as: UTF8.self).contains("another server") } == 3
        }
        let answer = try await run("curl", ["-sS", "--unix-socket", path, "http://x/health/live"])
        #expect(answer.outputText == "{\"status\":\"ok\"}\n")
    }

    @Test func aSocketsPlaceThatIsTakenOtherwiseIsNamed() async throws {
        let file = try folder.write(Data("mine".utf8), to: "file")
        for (path, words) in [
            (file, "not a socket"), (folder.path("nothing/s"), "No such file"), (folder.path("store"), "not a socket"),
        ] {
            let result = try await web(["--listen", "unix:\(path)"])
            #expect(result.exitStatus == 1)
            #expect(result.errorText.contains(words), "\(result.errorText)")
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    }

    @Test func anAddressThatIsTakenIsNamed() async throws {
        let (process, url) = try await start("--listen", "127.0.0.1:0")
        let port = try #require(url.firstMatch(of: #/:(\d+)\//#)?.1)
        let second = try await web(["--listen", "127.0.0.1:\(port)"])
        #expect(second.exitStatus == 1)
        #expect(second.errorText.contains("cannot listen on 127.0.0.1:\(port): Address already in use"))
        await end(process)
    }

    @Test func wrongOptionsAreNamed() async throws {
        let tokens = try folder.write(Data("name fly 0123456789abcdef".utf8), to: "tokens")
        let key = try folder.write(Data("short\n".utf8), to: "key")
        for (arguments, words) in [
            (["--listen", "nowhere"], "--listen"), (["--listen", "127.0.0.1:99999"], "--listen"),
            (["--base-path", "cameo/"], "--base-path"), (["--max-upload", "1G"], "--max-upload"),
            (["--tokens", tokens], "unknown scope \"fly\""), (["--tokens", "/nothing"], "--tokens /nothing"),
            (["--sign-key", key], "at least 16 bytes"), (["--sign-key", key, "--unsigned"], "mutually exclusive"),
            (["--presets", key], "--presets"), (["--host", "a b"], "--host a b"),
            (["--host", "a", "--tokens", tokens], "no effect with --tokens"),
            (["--allow-origin", "www.example"], "--allow-origin www.example: must be an origin"),
            (["--allow-origin", "https://www.example/"], "without a path"),
            (["--allow-origin", "https://*.example"], "--allow-origin https://*.example"),
            (["--allow-origin", "null"], "--allow-origin null"),
            (["--allow-origin", "*", "--allow-origin", "https://www.example"], "no other can be named"),
            (["--redirect-blobs"], "keeps no pictures in a bucket"),
            (["--public-endpoint", "https://pictures.example"], "without --redirect-blobs"),
            (["--redirect-blobs", "--public-endpoint", "pictures.example"], "--public-endpoint"),
        ] {
            let result = try await web(arguments)
            #expect(result.exitStatus == 2, "\(arguments)")
            #expect(result.errorText.contains(words), "\(result.errorText)")
        }
        #expect(try await web(["--listen", "127.0.0.1:0"], store: "/proc/nothing").exitStatus == 4)
    }

    @Test(arguments: [
        ("*", "*"), ("https://www.example", "https://www.example"), ("HTTPS://WWW.example:443", "https://www.example"),
        ("https://www.example:8443", nil),
    ])
    func theOriginIsTheBrowsers(option: String, answer: String?) async throws {
        let (process, url) = try await start(
            "--listen",
            "127.0.0.1:0",
            environment: ["CAMEO_WEB_ALLOW_ORIGIN": option]
        )
        let asking = ["-sS", "-D", "-", "-o", "/dev/null", "-H", "Origin: https://www.example", "\(url)health/live"]
        let head = try await run("curl", asking).outputText.lowercased()
        #expect(head.firstMatch(of: #/access-control-allow-origin: (\S+)/#).map { String($0.1) } == answer)
        await end(process)
    }

    @Test func everyOptionMayComeFromTheEnvironment() async throws {
        let (process, url) = try await start(environment: [
            "CAMEO_WEB_LISTEN": "127.0.0.1:0", "CAMEO_WEB_BASE_PATH": "/x",
        ])
        #expect(url.hasSuffix("/x/"))
        await end(process)
    }
}
