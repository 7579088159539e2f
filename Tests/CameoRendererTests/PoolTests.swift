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

    /// A source that makes its renderer fail, and how the worker says so.
    struct Fault: CustomTestStringConvertible, Sendable {
        let word: String
        let code: JobFailure.Code
        var says: [String] = []
        var isRetryable: Bool?
        /// In a memory file, which cannot change, rather than in a file that did not: a bus error has other causes too.
        var isSealed = false
        var timeout: Duration?
        var killed = 0, crashed = 0

        var testDescription: String { "\(word)\(isSealed ? ", sealed" : "")" }
    }

    static let faults = [
        Fault(word: "CRASH", code: .renderCrashed, says: ["SIGSEGV", "CRASH.jpg"], isRetryable: true, crashed: 1),
        Fault(word: "HANG", code: .renderTimedOut, says: ["300 ms"], timeout: .milliseconds(300), killed: 1),
        Fault(word: "ALLOCATE", code: .renderOutOfMemory, says: ["1536 MiB"]),
        Fault(word: "ONE-ALLOCATION", code: .renderOutOfMemory, says: ["1536 MiB"]),
        Fault(word: "BUS-ERROR", code: .renderCrashed, says: ["SIGBUS"]),
        Fault(word: "BUS-ERROR", code: .renderCrashed, says: ["SIGBUS"], isSealed: true),
        Fault(word: "BABBLE", code: .renderFailed, killed: 1),
    ]

    @Test(arguments: faults)
    func aFaultCostsItsPictureAlone(_ fault: Fault) async throws {
        let path = try await hook(fault.word)
        let sealed = try OpenFile.memory(containing: Data("CAMEO-TEST-\(fault.word)".utf8))
        try await Renderers.withPool { pool in
            for round in 1...3 {
                let source = fault.isSealed ? sealed : try OpenFile(reading: path)
                let start = ContinuousClock.now
                let failure = await failure {
                    try await pool.render([Rendition(width: 64)], of: source, named: path, timeout: fault.timeout)
                }
                #expect(failure?.code == fault.code)
                for word in fault.says { #expect(failure?.message.contains(word) == true, "\(failure?.message ?? "")") }
                #expect(fault.isRetryable == nil || failure?.isRetryable == fault.isRetryable)
                #expect(ContinuousClock.now - start >= fault.timeout ?? .zero)
                try await expectHealthy(pool)
                #expect(fault.killed == 0 || pool.statistics.killed == round)
                #expect(fault.crashed == 0 || pool.statistics.crashed == round)
            }
        }
    }

    @Test func theRenditionThatTakesTooLongIsNamed() async throws {
        var endless = Rendition(width: 6_000, format: .avif)
        (endless.name, endless.encoding.effort) = ("endless", 9)
        let photo = try OpenFile(reading: try await Pictures.photo("jpg"))
        try await Renderers.withPool { pool in
            let failure = await failure {
                let renditions = [Rendition(width: 64), endless]
                return try await pool.render(renditions, of: photo, named: "a photo", timeout: .seconds(4))
            }
            #expect(failure?.code == .renderTimedOut)
            let message = failure?.message ?? ""
            #expect(message.hasSuffix("the limit of 4 s, while it made endless"), "\(message)")
        }
    }

    /// Not even one of the picture before, which the same renderer has made.
    @Test func aCrashBeforeAnyRenditionNamesNone() async throws {
        let crash = try OpenFile(reading: try await hook("CRASH"))
        let photo = try OpenFile(reading: try await Pictures.photo("jpg"))
        try await Renderers.withPool(Renderers.configuration(processes: 1)) { pool in
            let renditions = [Rendition(width: 64), Rendition(width: 32)]
            _ = try await pool.render(renditions, of: photo, named: "a photo", timeout: nil)
            let failure = await failure {
                try await pool.render(renditions, of: crash, named: "a crash", timeout: nil)
            }
            #expect(failure?.code == .renderCrashed)
            #expect(failure?.message.contains("while it made") == false, "\(failure?.message ?? "")")
        }
    }

    /// Over the limit in all, and with one allocation: neither is called corrupt.
    @Test(arguments: [400, 330])
    func realPictureOverTheMemoryLimitIsOutOfMemory(mebibytes: Int) async throws {
        var configuration = Renderers.configuration(processes: 1)
        configuration.memoryLimitBytes = mebibytes << 20
        let large = try await Pictures.largeInterlacedPNG()
        try await Renderers.withPool(configuration) { pool in
            let failure = await failure { try await pool.render(Rendition(width: 64), of: large) }
            #expect(failure?.code == .renderOutOfMemory)
            try await expectHealthy(pool)
        }
    }

    /// After their pictures, and when they have grown.
    @Test(arguments: [(2, Int.max, 6), (Int.max, 1 << 20, 3)])
    func childrenAreRecycled(afterPictures pictures: Int, residentBytes: Int, rounds: Int) async throws {
        var configuration = Renderers.configuration(processes: 1)
        (configuration.recycleAfterPictures, configuration.recycleAfterResidentBytes) = (pictures, residentBytes)
        try await Renderers.withPool(configuration) { pool in
            for _ in 0..<rounds { try await expectHealthy(pool) }
            #expect(pool.statistics.recycled >= 2)
            #expect(pool.statistics.pictures == rounds)
        }
    }

    /// Also of one that costs its renderer; several of one attempt add up.
    @Test func theProcessorTimeOfAPictureIsKnown() async throws {
        let large = try OpenFile(reading: try await Pictures.largeInterlacedPNG())
        let crash = try OpenFile(reading: try await hook("CRASH"))
        var endless = Rendition(width: 6_000, format: .avif)
        endless.encoding.effort = 9
        try await Renderers.withPool { pool in
            func render(_ rendition: Rendition, of source: OpenFile, _ clock: WorkClock, timeout: Duration? = nil)
                async throws
            {
                var request = RenderRequest([rendition], of: source, named: "a picture")
                request.timeout = timeout
                _ = try await pool.render(request, clock: clock)
            }
            let (clock, later, killed) = (WorkClock(), WorkClock(), WorkClock())
            #expect(clock.processorTime == nil)
            try await render(Rendition(width: 64), of: large, clock)
            let made = try #require(clock.processorTime)
            #expect(made > .milliseconds(1))
            try await render(Rendition(width: 64), of: large, clock)
            #expect(try #require(clock.processorTime) > made)

            await #expect(throws: JobFailure.self) { try await render(Rendition(width: 64), of: crash, later) }
            #expect(later.processorTime != nil)
            await #expect(throws: JobFailure.self) {
                try await render(endless, of: large, killed, timeout: .seconds(1))
            }
            #expect(try #require(killed.processorTime) > .zero)
            #expect(pool.statistics.crashed == 1 && pool.statistics.killed == 1)
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
        configuration.limits.totalOutputBytes = total
        configuration.limits.outputBytes = each
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
