import CameoFetch
import CameoModel
import CameoSystem
import Synchronization
import Testing

@testable import CameoWorker

/// A limiter, with operations that each wait at a gate. Tasks run at once until they have to wait, so the order in which they
/// arrive is known.
@Suite(.timeLimit(.minutes(10)))
struct LimiterTests {
    private struct Failure: Error {}

    /// Counts what runs.
    private final class Running: Sendable {
        private struct State {
            var now = 0
            var most = 0
        }

        private let state = Mutex(State())

        var most: Int { state.withLock { $0.most } }

        func change(by difference: Int) {
            state.withLock { state in
                state.now += difference
                state.most = max(state.most, state.now)
            }
        }
    }

    private let begun = AsyncStream<Int>.makeStream()

    private func start(_ number: Int, _ limiter: ByteBudget, _ gate: Gate) -> Task<Void, any Error> {
        Task.immediate { [begun] in
            try await limiter.run(WorkClock()) {
                begun.continuation.yield(number)
                try await gate.pass()
            }
        }
    }

    @Test func operationsBeyondTheLimitBeginInTheOrderOfTheirArrival() async throws {
        let limiter = ByteBudget(limit: 2)
        let gates = (0..<5).map { _ in Gate() }
        let tasks = gates.indices.map { start($0, limiter, gates[$0]) }
        var starts = begun.stream.makeAsyncIterator()
        var order = [try #require(await starts.next()), try #require(await starts.next())]
        // Each end lets one more begin, whichever it is.
        for position in [1, 0, 2] {
            gates[order[position]].open()
            try await tasks[order[position]].value
            order.append(try #require(await starts.next()))
        }
        #expect(order == [0, 1, 2, 3, 4])
        for gate in gates { gate.open() }
        for task in tasks { try await task.value }
    }

    @Test func neverMoreThanTheLimitRunAtOnce() async throws {
        let limiter = ByteBudget(limit: 3)
        let running = Running()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    try await limiter.run(WorkClock()) {
                        running.change(by: 1)
                        await Task.yield()
                        running.change(by: -1)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect((1...3).contains(running.most))
    }

    @Test func anOperationThatIsCancelledWhileItWaitsNeverBegins() async throws {
        let limiter = ByteBudget(limit: 1)
        let gates = (0..<3).map { _ in Gate() }
        let tasks = gates.indices.map { start($0, limiter, gates[$0]) }
        tasks[1].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[1].value }
        for index in [0, 2] {
            gates[index].open()
            try await tasks[index].value
        }
        begun.continuation.finish()
        let order = await begun.stream.reduce(into: [Int]()) { $0.append($1) }
        #expect(order == [0, 2])
    }

    @Test func anOperationThatWasCancelledBeforeNeverBegins() async throws {
        let limiter = ByteBudget(limit: 1)
        let task = Task.immediate {
            withUnsafeCurrentTask { $0?.cancel() }
            try await limiter.run(WorkClock()) { _ = Issue.record("it began") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await limiter.run(WorkClock()) { 1 } == 1)
    }

    @Test func anOperationThatFailsMakesRoom() async throws {
        let limiter = ByteBudget(limit: 1)
        await #expect(throws: Failure.self) {
            _ = try await limiter.run(WorkClock()) { () throws -> Int in throw Failure() }
        }
        #expect(try await limiter.run(WorkClock()) { 1 } == 1)
    }

    @Test func anOperationThatIsCancelledMakesRoom() async throws {
        let limiter = ByteBudget(limit: 1)
        let task = start(0, limiter, Gate())
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await limiter.run(WorkClock()) { 1 } == 1)
    }
}
