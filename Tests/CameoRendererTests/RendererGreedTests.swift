import CameoModel
import CameoRenderMessages
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// A compromised renderer that uses up the worker's resources: time, memory, threads, a place in the pool.
@Suite(.timeLimit(.minutes(10)))
struct RendererGreedTests {
    /// Refused by the announcement: the bytes are never sent here.
    @Test func renditionsThatAreTooMuchTogetherAreRefusedBeforeTheirBytes() async throws {
        let source = try await OpenFile(reading: Pictures.plain(30, 20))
        try await FalseRenderer.withPool(
            "hello(); hear(); picture(*[rendition(bytes=45 << 20)] * 3); time.sleep(600)"
        ) { pool in
            let renditions = [Rendition](repeating: Rendition(width: 8, format: .png), count: 3)
            let failure = await failure {
                try await pool.render(renditions, of: source, named: "it", timeout: .seconds(300))
            }
            #expect(failure?.message.contains("\(3 * 45 << 20) bytes in total") == true, "\(failure?.message ?? "")")
        }
    }

    @Test func childThatNeverReadsIsKilledAtTheDeadline() async throws {
        try await Self.withDeafRenderer { pool, job in
            let failure = await failure { try await job(.milliseconds(300)) }
            #expect(failure?.code == .renderTimedOut)
            #expect(pool.statistics.killed == 1)
        }
    }

    @Test func cancellationReachesAChildThatNeverReads() async throws {
        let folder = try TemporaryFolder()
        let mark = "\(folder.path)/socket-is-full"
        let watch = """
            import fcntl, termios
            while struct.unpack("i", fcntl.ioctl(3, termios.FIONREAD, bytes(4)))[0] < 100000: time.sleep(0.001)
            open("\(mark)", "w").close()
            """
        try await Self.withDeafRenderer(watch) { pool, job in
            let task = Task { try await job(.seconds(300)) }
            try await eventually("the socket is full") { FileManager.default.fileExists(atPath: mark) }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(pool.statistics.killed == 1)
        }
    }

    @Test func answerBeforeTheWholeJobWasReadIsNotBelieved() async throws {
        let answer = "say('REF1', {'reason': 'corrupt', 'predicate': 'x'})"
        try await Self.withDeafRenderer("s.recv_into(bytearray(9)); \(answer)") { pool, job in
            let failure = await failure { try await job(.seconds(300)) }
            #expect(failure?.message.contains("before it had read its job") == true)
            #expect(pool.statistics.killed == 1)
        }
    }

    /// Runs with a child that sends its hello and reads nothing, and a job of more bytes than a socket buffer holds.
    private static func withDeafRenderer(
        _ answer: String = "",
        _ body: (RendererPool, @escaping @Sendable (Duration) async throws -> RenderedPicture) async throws -> Void
    ) async throws {
        let source = try await OpenFile(reading: Pictures.plain(30, 20))
        let path = String(repeating: "a", count: 60_000)
        let overlays = (0..<8).map { (source: "file:///\($0)\(path).png", file: source, kind: .file) as RenderOverlay }
        try await FalseRenderer.withPool("hello()\n\(answer)\ntime.sleep(600)") { pool in
            try await body(pool) { timeout in
                let rendition = Rendition(width: 8)
                return try await pool.render([rendition], of: source, overlays: overlays, named: "it", timeout: timeout)
            }
        }
    }

    /// Threads that share a stack take no address space. None may grow beyond a fraction of what it wants.
    @Test func threadBombIsKilledWhileItGrows() async throws {
        let folder = try TemporaryFolder()
        let count = folder.path("count")
        try await FalseRenderer.withPool(
            """
            import threading
            threading.stack_size(65536)
            hello(); hear(); log = open("\(count)", "w", 1)
            for made in range(30000):
                threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
                log.write(str(made) + "\\n")
            time.sleep(600)
            """
        ) { pool in
            let failure = await pool.failure()
            #expect(failure?.message.contains("threads") == true, "\(failure?.message ?? "")")
        }
        let made = try String(contentsOfFile: count, encoding: .utf8).split(separator: "\n").last
        #expect(try #require(made.flatMap { Int($0) }) < 8_000)
    }

    /// Threads that share a stack take no address space.
    @Test(arguments: ["wait()", "picture(rendition()); s.sendall(PNG); wait()"])
    func threadBombIsKilled(_ answer: String) async throws {
        try await FalseRenderer.withPool(
            """
            import threading
            hello(); hear(); count = 65 if os.cpu_count() <= 16 else 4 * os.cpu_count() + 1
            for _ in range(count): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
            \(answer)
            """
        ) { pool in
            let failure = await pool.failure()
            #expect(failure?.code == .renderFailed)
            #expect(failure?.message.contains("threads") == true, "\(failure?.message ?? "")")
            #expect(pool.statistics.killed == 1)
        }
    }

    /// The limit also applies while it has no picture.
    @Test func threadsOfAnIdleChildAreSeen() async throws {
        let folder = try TemporaryFolder()
        let mark = folder.path("rendered")
        try await FalseRenderer.withPool(
            """
            import threading
            hello(); hear(); picture(rendition()); s.sendall(PNG); count = max(64, 4 * os.cpu_count()) + 1
            while not os.path.exists("\(mark)"): time.sleep(0.01)
            for _ in range(count): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
            wait()
            """
        ) { pool in
            _ = try await pool.render(Rendition(width: 8, format: .png), of: Pictures.plain(30, 20))
            try Data().write(to: URL(filePath: mark))
            try await eventually("the child is killed") { pool.statistics.killed > 0 }
            #expect(pool.statistics.crashed == 0)
        }
    }

    /// Code that a picture smuggled into a child must not keep running after the picture.
    @Test func childThatIsBusyWithoutAJobIsKilled() async throws {
        try await FalseRenderer.withPool(
            "hello(); hear(); picture(rendition()); s.sendall(PNG)\nwhile True: pass"
        ) { pool in
            _ = try await pool.render(Rendition(width: 8, format: .png), of: Pictures.plain(30, 20))
            let end = ContinuousClock.now + .seconds(300)
            while pool.statistics.killed == 0, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(pool.statistics.killed == 1)
            #expect(pool.statistics.crashed == 0)
        }
    }

    /// Optional decoders are not trusted: whatever one did to the child ends with the picture.
    @Test(arguments: [true, false])
    func childThatWasGivenAnOptionalFormatIsReplacedAtOnce(asOverlay: Bool) async throws {
        let pdf = try OpenFile.memory(containing: Data("%PDF-1.7\n".utf8))
        let png = try await OpenFile(reading: Pictures.plain(30, 20))
        try await FalseRenderer.withPool(
            """
            size = \(asOverlay ? 1 : 8); data = png(size, size); made = rendition(width=size, height=size, bytes=len(data))
            hello(); hear(); picture(made, format='\(asOverlay ? "png" : "pdf")'); s.sendall(data); wait()
            """
        ) { pool in
            _ = try await pool.render(
                [Rendition(width: 8, format: .png)],
                of: asOverlay ? png : pdf,
                overlays: asOverlay ? [(source: "file:///mark.pdf", file: pdf, kind: .file)] : [],
                named: "a picture"
            )
            #expect(pool.statistics.recycled == 1)
        }
    }

    /// A compromised renderer could leak one tenant's picture to the next. Each child here reports its own number as
    /// its version.
    @Test func childThatHasSeenATenantsPictureServesNobodyElse() async throws {
        let source = try await OpenFile(reading: Pictures.plain(30, 20))
        let (a, b) = (try #require(RequestScope(headers: ["A": "1"])), try #require(RequestScope(headers: ["B": "1"])))
        try await FalseRenderer.withPool(
            """
            version = str(os.getpid())
            say("HEL1", {"protocolVersion": \(RendererProtocol.version), "rendererVersion": version, "sandbox": SANDBOX})
            while hear()[0]: picture(rendition()); s.sendall(PNG)
            """
        ) { pool in
            var children: [String] = []
            for scopes: Set<RequestScope> in [[], [], [a], [a], [a, b], [b], [], [], [b]] {
                let rendition = Rendition(width: 8, format: .png)
                children.append(
                    try await pool.render([rendition], of: source, named: "it", scopes: scopes).rendererVersion
                )
            }
            let numbers = children.map { children.firstIndex(of: $0) }
            #expect(numbers == [0, 0, 0, 0, 0, 5, 6, 6, 6])
            #expect(pool.statistics.recycled == 2)
        }
    }

    /// The slot's thread reads the text, and has other work to do.
    @Test func wordsWithoutEndDoNotOutliveTheDeadline() async throws {
        try await FalseRenderer.withPool("hello(); hear()\nwhile True: os.write(2, b'x' * 65536)") { pool in
            let failure = await failure {
                try await pool.render(Rendition(width: 8), of: Pictures.plain(30, 20), timeout: .milliseconds(300))
            }
            #expect(failure?.code == .renderTimedOut)
        }
    }

    @Test func largeHonestAnswerArrives() async throws {
        try await FalseRenderer.withPool(
            "hello(); hear(); picture(rendition(bytes=20 << 20)); s.sendall(long_png(20 << 20)); wait()"
        ) { pool in
            let picture = try await pool.render(Rendition(width: 8, format: .png), of: Pictures.plain(30, 20))
            #expect(picture.renditions[0].bytes.count == 20 << 20)
        }
    }
}
