import CameoModel
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// What happens to children, with sources that make a debug build's renderer die on purpose.
@Suite(.timeLimit(.minutes(10)))
struct PoolTests {
    func hook(_ word: String) async throws -> String {
        try await Pictures.bytes("\(word).jpg", Array("CAMEO-TEST-\(word)".utf8))
    }

    func expectHealthy(_ pool: RendererPool) async throws {
        let picture = try await pool.render(Rendition(width: 64), of: Pictures.photo("jpg"))
        #expect(picture.renditions[0].edges == [64, 43])
    }

    @Test func crashCostsOnlyItsPicture() async throws {
        let crash = try await hook("CRASH")
        try await Renderers.withPool { pool in
            for _ in 0..<3 {
                let failure = await failure { try await pool.render(Rendition(width: 64), of: crash) }
                #expect(failure?.code == .renderCrashed)
                #expect(failure?.message.contains("SIGSEGV") == true)
                #expect(failure?.message.contains(crash) == true)
                #expect(failure?.isRetryable == true)
                try await expectHealthy(pool)
            }
            #expect(pool.statistics.crashed == 3)
        }
    }

    @Test func neighboursOfACrashAreUnharmed() async throws {
        let crash = try await hook("CRASH")
        let photo = try await Pictures.photo("jpg")
        try await Renderers.withPool(Renderers.configuration(processes: 2)) { pool in
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<30 {
                    group.addTask {
                        let path = index % 5 == 0 ? crash : photo
                        return (try? await pool.render(Rendition(width: 64), of: path)) != nil
                    }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(outcomes == 24)
        }
    }

    @Test func hangIsKilledAtItsDeadline() async throws {
        let hang = try await hook("HANG")
        try await Renderers.withPool { pool in
            let start = ContinuousClock.now
            let failure = await failure {
                try await pool.render(Rendition(width: 64), of: hang, timeout: .milliseconds(300))
            }
            #expect(failure?.code == .renderTimedOut)
            #expect(failure?.message.contains("300 ms") == true)
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            try await expectHealthy(pool)
            #expect(pool.statistics.killed == 1)
        }
    }

    @Test(arguments: ["ALLOCATE", "ONE-ALLOCATION"])
    func memoryBombIsOutOfMemory(_ word: String) async throws {
        let bomb = try await hook(word)
        try await Renderers.withPool { pool in
            let failure = await failure { try await pool.render(Rendition(width: 64), of: bomb) }
            #expect(failure?.code == .renderOutOfMemory)
            #expect(failure?.message.contains("1536 MiB") == true)
            try await expectHealthy(pool)
        }
    }

    @Test func realPictureOverTheMemoryLimitIsOutOfMemoryNotCorrupt() async throws {
        var configuration = Renderers.configuration(processes: 1)
        configuration.memoryLimitBytes = 400 << 20
        let large = try await Pictures.largeInterlacedPNG()
        try await Renderers.withPool(configuration) { pool in
            let failure = await failure { try await pool.render(Rendition(width: 64), of: large) }
            #expect(failure?.code == .renderOutOfMemory)
            try await expectHealthy(pool)
        }
    }

    @Test func pictureThatAsksForTooMuchAtOnceIsOutOfMemoryNotCorrupt() async throws {
        var configuration = Renderers.configuration(processes: 1)
        configuration.memoryLimitBytes = 330 << 20
        let large = try await Pictures.largeInterlacedPNG()
        try await Renderers.withPool(configuration) { pool in
            let failure = await failure { try await pool.render(Rendition(width: 64), of: large) }
            #expect(failure?.code == .renderOutOfMemory)
            try await expectHealthy(pool)
        }
    }

    @Test func sourceTruncatedWhileReadIsChanged() async throws {
        let folder = try TemporaryFolder()
        let words = Data("CAMEO-TEST-TRUNCATED-SOURCE".utf8)
        let path = try folder.write(words + Data(repeating: 1, count: 8_192), to: "source.jpg")
        try await Renderers.withPool { pool in
            let task = Task { try await pool.render(Rendition(width: 64), of: path) }
            try await expectBusy(pool)
            try await somebodyLooksAgainAndAgain(pool)
            #expect(truncate(path, off_t(words.count)) == 0)
            let failure = await failure { try await task.value }
            #expect(failure?.code == .sourceChanged)
            try await expectHealthy(pool)
        }
    }

    /// Returns when a renderer has slept a hundred times, after which it has read a source that it mapped.
    private func somebodyLooksAgainAndAgain(_ pool: RendererPool) async throws {
        let before = sleeps(pool)
        while !sleeps(pool).contains(where: { $1 > before[$0, default: $1] + 100 }) {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// The number of sleeps of each renderer, in all its threads; those that have ended are skipped.
    private func sleeps(_ pool: RendererPool) -> [Int32: Int] {
        pool.statistics.processes.reduce(into: [:]) { found, process in
            let tasks = "/proc/\(process)/task"
            guard let threads = try? FileManager.default.contentsOfDirectory(atPath: tasks) else { return }
            found[process] = threads.reduce(0) { $0 + self.sleeps(ofThread: "\(tasks)/\($1)/status") }
        }
    }

    private func sleeps(ofThread path: String) -> Int {
        let status = try? String(contentsOfFile: path, encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
    }

    /// An unchanged file, and a sealed one: a bus error has other causes too.
    @Test(arguments: [false, true])
    func busErrorOfAnUnchangedSourceIsACrash(isSealed: Bool) async throws {
        let bus = try await hook("BUS-ERROR")
        let sealed = try OpenFile.memory(containing: Data("CAMEO-TEST-BUS-ERROR".utf8))
        try await Renderers.withPool { pool in
            let source = isSealed ? sealed : try OpenFile(reading: bus)
            let failure = await failure { try await pool.render([Rendition(width: 64)], of: source, named: "it") }
            #expect(failure?.code == .renderCrashed)
            #expect(failure?.message.contains("SIGBUS") == true)
            try await expectHealthy(pool)
        }
    }

    /// More than a renderer accepts as one message, which is not sent.
    @Test func jobThatIsTooLongToAskIsNamedAndCostsNoChild() async throws {
        let path = String(repeating: "a", count: 150_000)
        let source = try await OpenFile(reading: Pictures.photo("jpg"))
        let overlays = (0..<8).map { (source: "file:///\($0)\(path).png", file: source, kind: .file) as RenderOverlay }
        try await Renderers.withPool { pool in
            let failure = await failure {
                try await pool.render([Rendition(width: 8)], of: source, overlays: overlays, named: "it")
            }
            #expect(failure?.code == .renderFailed)
            #expect(failure?.message.contains("limit of 1048576") == true)
            try await expectHealthy(pool)
            #expect(pool.statistics.crashed == 0 && pool.statistics.killed == 0)
        }
    }

    @Test(arguments: [(2_000, Int.max, "in total"), (Int.max, 500, "a rendition of")])
    func rendererItselfRefusesToReturnTooMuch(total: Int, each: Int, words: String) async throws {
        var configuration = Renderers.configuration(processes: 1)
        configuration.maximumTotalOutputBytes = total
        configuration.maximumOutputBytes = each
        try await Renderers.withPool(configuration) { pool in
            let rendition = Rendition(width: 64, format: .png)
            let failure = await failure { try await pool.render(rendition, rendition, of: Pictures.photo("jpg")) }
            #expect(failure?.code == .renderTooManyBytes)
            #expect(failure?.message.contains(words) == true)
            #expect(pool.statistics.killed == 0)
        }
    }

    /// Signals from outside: the kernel's processor limit, its OOM killer, an operator.
    @Test(arguments: [
        (SIGXCPU, JobFailure.Code.renderTimedOut, "processor time"), (SIGKILL, .renderCrashed, "SIGKILL"),
        (SIGUSR1, .renderCrashed, "signal \(SIGUSR1)"),
    ])
    func signalFromOutsideIsNamed(_ signal: Int32, code: JobFailure.Code, word: String) async throws {
        let hang = try await hook("HANG")
        try await Renderers.withPool { pool in
            let task = Task { try await pool.render(Rendition(width: 64), of: hang) }
            try await expectBusy(pool)
            for child in pool.statistics.processes { kill(child, signal) }
            let failure = await failure { try await task.value }
            #expect(failure?.code == code)
            #expect(failure?.message.contains(word) == true)
            try await expectHealthy(pool)
        }
    }

    @Test func answerThatCannotBeBelievedIsRefused() async throws {
        let babble = try await hook("BABBLE")
        try await Renderers.withPool { pool in
            let failure = await failure { try await pool.render(Rendition(width: 64), of: babble) }
            #expect(failure?.code == .renderFailed)
            try await expectHealthy(pool)
            #expect(pool.statistics.killed == 1)
        }
    }

    @Test func cancelledRenderEndsAtOnceAndKillsItsChild() async throws {
        let hang = try await hook("HANG")
        try await Renderers.withPool { pool in
            let task = Task { try await pool.render(Rendition(width: 64), of: hang) }
            try await expectBusy(pool)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            try await expectHealthy(pool)
            #expect(pool.statistics.killed == 1)
        }
    }

    @Test func cancelledBeforeItBeginsNeverReachesAChild() async throws {
        try await Renderers.withPool { pool in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await pool.render(Rendition(width: 64), of: Pictures.photo("jpg"))
            }
            await #expect(throws: (any Error).self) { try await task.value }
            try await expectHealthy(pool)
            #expect(pool.statistics.killed == 0)
        }
    }

    @Test func waitingRenderCanBeCancelled() async throws {
        let hang = try await hook("HANG")
        let photo = try await Pictures.photo("jpg")
        try await Renderers.withPool { pool in
            let first = Task { try await pool.render(Rendition(width: 64), of: hang) }
            try await expectBusy(pool)
            let second = Task { try await pool.render(Rendition(width: 64), of: photo) }
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
        }
    }

    @Test func childrenAreRecycledAfterTheirPictures() async throws {
        var configuration = Renderers.configuration(processes: 1)
        configuration.recycleAfterPictures = 2
        try await Renderers.withPool(configuration) { pool in
            for _ in 0..<6 { try await expectHealthy(pool) }
            #expect(pool.statistics.recycled >= 2)
            #expect(pool.statistics.pictures == 6)
        }
    }

    /// Only what a decoder has seen costs a child.
    @Test func whatIsNoPictureCostsNoChild() async throws {
        let folder = try TemporaryFolder()
        let text = try folder.write(Data("no picture".utf8), to: "text")
        try await Renderers.withPool { pool in
            for _ in 0..<3 {
                let refusal = await failure { try await pool.render(Rendition(width: 8), of: text) }
                #expect(refusal?.code == .imageUnsupportedFormat)
            }
            #expect(pool.statistics.recycled == 0)
        }
    }

    @Test func childrenAreRecycledWhenTheyHaveGrown() async throws {
        var configuration = Renderers.configuration(processes: 1)
        configuration.recycleAfterResidentBytes = 1 << 20
        try await Renderers.withPool(configuration) { pool in
            for _ in 0..<3 { try await expectHealthy(pool) }
            #expect(pool.statistics.recycled >= 2)
        }
    }

    @Test func shutdownReapsEveryChildAndCancelsWhatRuns() async throws {
        let hang = try await hook("HANG")
        let pool = try RendererPool(Renderers.configuration(processes: 2))
        let task = Task { try await pool.render(Rendition(width: 64), of: hang) }
        try await expectBusy(pool)
        let children = pool.statistics.processes
        await pool.shutdown()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!children.isEmpty)
        for child in children { #expect(kill(child, 0) == -1) }
        #expect(pool.statistics.processes.isEmpty)
        await #expect(throws: CancellationError.self) {
            try await pool.render(Rendition(width: 64), of: Pictures.photo("jpg"))
        }
    }

    /// The pool reports no start of a render, so this polls.
    func expectBusy(_ pool: RendererPool) async throws {
        try await eventually("a renderer is busy") { pool.statistics.rendering > 0 }
    }
}
