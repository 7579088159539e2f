import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CameoSystem

@Suite(.timeLimit(.minutes(5)))
struct BlockingThreadsTests {
    /// Counts how many run at a time.
    private final class Gauge: Sendable {
        private let state = Mutex((now: 0, most: 0, contexts: 0))

        var most: Int { state.withLock { $0.most } }
        var contexts: Int { state.withLock { $0.contexts } }

        func enter() {
            state.withLock {
                $0.now += 1; $0.most = max($0.most, $0.now)
            }
        }
        func leave() { state.withLock { $0.now -= 1 } }
        func newContext() -> Int {
            state.withLock {
                $0.contexts += 1; return $0.contexts
            }
        }
    }

    /// Returns once work is told that it is cancelled: true, or false after a minute.
    private static func isTold(_ isCancelled: () -> Bool) -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while !isCancelled() {
            guard ContinuousClock.now < end else { return false }
            usleep(100)
        }
        return true
    }

    @Test func workIsSpreadOverSoManyThreadsAndNoMore() async {
        let gauge = Gauge()
        let threads = BlockingThreads(limit: 4, name: "test") { gauge.newContext() }
        let results = await withTaskGroup(of: Int?.self) { group in
            for index in 0..<200 {
                group.addTask {
                    await threads.run { _, _ in
                        gauge.enter()
                        usleep(200)
                        gauge.leave()
                        return index
                    }
                }
            }
            return await group.reduce(into: Set<Int>()) { if let value = $1 { $0.insert(value) } }
        }
        #expect(results == Set(0..<200))
        #expect(gauge.most <= 4 && gauge.contexts <= 4)
        threads.shutdown()
    }

    @Test func oneCallAfterAnotherNeedsOneThread() async {
        let gauge = Gauge()
        let threads = BlockingThreads(limit: 8, name: "test") { gauge.newContext() }
        var contexts: Set<Int> = []
        for _ in 0..<1_000 { contexts.insert(await threads.run { context, _ in context } ?? 0) }
        #expect(contexts == [1])
        threads.shutdown()
    }

    @Test func aShutdownEndsWhatWaitsAndTellsWhatRuns() async throws {
        let threads = BlockingThreads(limit: 1, name: "test") {}
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let first = Task {
            await threads.run { _, isCancelled in
                begin.finish()
                return Self.isTold(isCancelled)
            }
        }
        for await _ in begun {}
        let second = Task { await threads.run { _, _ in true } }
        try await eventually("the second call waits") { threads.waiting > 0 }
        threads.shutdown()
        #expect(await first.value == true)
        #expect(await second.value == nil)
        #expect(await threads.run { _, _ in true } == nil)
    }

    @Test func aCancelledTaskTellsItsWork() async {
        let threads = BlockingThreads(limit: 1, name: "test") {}
        let task = Task {
            await threads.run { _, isCancelled in Self.isTold(isCancelled) }
        }
        task.cancel()
        #expect(await task.value == true)
        threads.shutdown()
    }

    /// What a job holds may be large, or the owner of the threads.
    @Test func threadsThatWaitKeepNeitherTheirJobsNorTheirResults() async throws {
        final class Held: Sendable {}
        weak var input: Held?
        weak var output: Held?
        let threads = BlockingThreads(limit: 1, name: "test") {}
        func call() async {
            let held = Held()
            input = held
            output = await threads.run { _, _ in held === held ? Held() : held }
        }
        await call()
        try await eventually("they are gone") { input == nil && output == nil }
        threads.shutdown()
    }

    @Test func aThreadGetsNoSignalsButThoseOfItsFaults() async throws {
        let blocked: [Int32] = try await withCheckedThrowingContinuation { continuation in
            do {
                try BlockingThread.start("test") {
                    var signals = sigset_t()
                    pthread_sigmask(SIG_BLOCK, nil, &signals)
                    continuation.resume(returning: [SIGPIPE, SIGTERM, SIGSEGV].map { sigismember(&signals, $0) })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(blocked == [1, 1, 0])
    }
}
