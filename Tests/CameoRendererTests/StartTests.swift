import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// Renderers that do not start, and that end with their worker.
@Suite(.timeLimit(.minutes(10)))
struct StartTests {
    @Test func missingExecutableIsNamed() throws {
        let configuration = RendererConfiguration(executable: "/nowhere/cameo-renderer", processes: 1)
        let error = #expect(throws: RendererUnavailable.self) { _ = try RendererPool(configuration) }
        #expect(error?.description.contains("/nowhere/cameo-renderer") == true)
    }

    @Test(arguments: [
        ("sys.stderr.write('no such library'); sys.exit(127)", "no such library"),
        ("say('HEL1', {'protocolVersion': 99, 'rendererVersion': 'new', 'sandbox': SANDBOX}); wait()", "protocol 99"),
        ("s.sendall(b'bash: bad substitution'); wait()", "unknown message kind"),
        ("picture(rendition()); wait()", "unrequested"),
    ])
    func rendererThatDoesNotStartFailsItsJobsAndSaysWhy(_ script: String, words: String) async throws {
        let renderer = try FalseRenderer(script)
        let configuration = RendererConfiguration(executable: renderer.path, processes: 2)
        let began = ContinuousClock.now
        try await Renderers.withPool(configuration) { pool in
            let failure = await pool.failure()
            #expect(failure?.code == .renderFailed)
            #expect(failure?.isRetryable == true)
            #expect(failure?.message.contains(words) == true, "\(failure?.message ?? "")")
            #expect(!pool.isReady)
            // Two slots, each at once, after 0.1 s, then after twice the previous time, up to 5 s.
            let spawned = pool.statistics.spawned
            let most = 2 * (8 + Int(began.duration(to: .now) / .seconds(5)))
            #expect(spawned <= most, "it backs off")
        }
    }

    @Test func whatAHostLacksIsToldBeforeAPictureIsSent() async throws {
        try await FalseRenderer.withPool("hello('write:avif', 'read:heif'); wait()") { pool in
            try await pool.waitUntilReady()
            #expect(pool.lacks == [.writing(.avif), .reading(.heif)])
            let (avif, source) = (Rendition(width: 8, format: .avif), Rendition(width: 8, format: .source))
            #expect(pool.lack(for: [Rendition(width: 8), avif]) == .writing(.avif))
            #expect(pool.lack(for: [Rendition(width: 8, format: .webp), source]) == nil)
            let png = (file: try OpenFile(reading: try await Pictures.plain(30, 20)), kind: SourceKind.file)
            let start = Data("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic".utf8)
            let heic = (file: try OpenFile.memory(containing: start), kind: SourceKind.file)
            #expect(pool.lack(for: [source], of: [png]) == nil)
            #expect(pool.lack(for: [source], of: [heic]) == .reading(.heif))
            #expect(pool.lack(for: [source], of: [png, heic]) == .reading(.heif), "an overlay's format counts")
        }
    }

    @Test func aCompleteHostLacksNothing() async throws {
        try await Renderers.withPool(RendererConfiguration(executable: Renderers.executable, processes: 1)) { pool in
            try await pool.waitUntilReady()
            #expect(pool.lacks.isEmpty)
        }
    }

    @Test func rendererIsNotForRunningByHand() async throws {
        let result = try await run(Renderers.executable)
        #expect(result.exitStatus == 2)
        #expect(result.errorText == "cameo-renderer must be started by cameo-worker\n")
        #expect(try await run(Renderers.executable, ["serve", "1", "1", "1000000000", "-"]).exitStatus == 2)
    }

    @Test func rendererSaysItsVersion() async throws {
        let result = try await run(Renderers.executable, ["--version"])
        #expect(result.exitStatus == 0)
        #expect(result.outputText == "\(CameoVersion.current)\n")
    }

    @Test func childHasFourDescriptorsAndItsOwnEnvironment() async throws {
        try await FalseRenderer.withPool(
            """
            words = ' '.join(sorted(os.listdir('/proc/self/fd'))[:-1] + sorted(os.environ))
            hello(); hear(); say('REF1', {'reason': 'failed', 'predicate': words}); wait()
            """
        ) { pool in
            let failure = await pool.failure()
            let words = "0 1 2 3 LC_CTYPE MALLOC_ARENA_MAX SWIFT_BACKTRACE VIPS_CONCURRENCY"
            #expect(failure?.message.hasSuffix(words) == true)
        }
    }

    /// The worker here is a copy of this test process, killed as by the OOM killer.
    @Test func childrenDieWithTheirWorker() async throws {
        let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardErrorContent]) {
            let pool = try RendererPool(Renderers.configuration(processes: 2))
            _ = try await pool.render(Rendition(width: 8), of: Pictures.plain(30, 20))
            while pool.statistics.processes.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
            let children = pool.statistics.processes.map(String.init).joined(separator: " ")
            FileHandle.standardError.write(Data("children: \(children)\n".utf8))
            kill(getpid(), SIGKILL)
        }
        let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("children: ") })
        let children = line.dropFirst(10).split(separator: " ").compactMap { Int32($0) }
        #expect(children.count >= 2)
        for child in children { try await Self.expectGone(child) }
    }

    /// Whether a process ends within two minutes: the kernel sends the signal at the parent's death, not before.
    private static func expectGone(_ process: Int32) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while isRunning(process), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(!isRunning(process))
    }

    /// A zombie that nobody reaps does not run.
    private static func isRunning(_ process: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            text.contains("(cameo-renderer"), let name = text.range(of: ") ", options: .backwards)
        else { return false }
        return text[name.upperBound] != "Z"
    }
}
