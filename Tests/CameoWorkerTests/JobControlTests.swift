import CameoModel
import CameoSystem
import Testing

@testable import CameoWorker

/// A job that is stopped, before, while and after it runs.
@Suite(.timeLimit(.minutes(10)))
struct JobControlTests {
    private struct Failure: Error {}

    private let control = JobControl(.example(), claimedAt: .now)
    private let begun = Gate()
    private let gate = Gate()

    /// Starts work that opens `begun`, and ends when `gate` is opened or when it is cancelled.
    private func run() -> Task<Int, any Error> {
        Task { [control, begun, gate] in
            try await control.run {
                begun.open()
                try await gate.pass()
                return 7
            }
        }
    }

    @Test func workThatIsNotStoppedReturnsItsValue() async throws {
        let task = run()
        try await begun.pass()
        gate.open()
        #expect(try await task.value == 7)
        #expect(control.stopReason == nil)
    }

    @Test func workThatFailsThrowsItsOwnError() async throws {
        await #expect(throws: Failure.self) { _ = try await control.run { () throws -> Int in throw Failure() } }
    }

    @Test(arguments: [JobControl.StopReason.timedOut, .claimLost, .shutdown])
    func aStopCancelsTheWork(reason: JobControl.StopReason) async throws {
        let task = run()
        try await begun.pass()
        control.stop(reason)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(control.stopReason == reason)
    }

    @Test func aStopBeforeTheWorkCancelsItToo() async throws {
        control.stop(.shutdown)
        await #expect(throws: CancellationError.self) { try await run().value }
    }

    @Test func theFirstReasonStands() async throws {
        control.stop(.claimLost)
        control.stop(.shutdown)
        control.stop(.timedOut)
        #expect(control.stopReason == .claimLost)
    }

    @Test func onlyWorkCountsAgainstTheLimit() async throws {
        #expect(!control.isOverdue)
        control.progress.clock.beginWait()
        control.limit(to: .milliseconds(5))
        try await Task.sleep(for: .milliseconds(20))
        #expect(!control.isOverdue)
        control.progress.clock.endWait()
        try await Task.sleep(for: .milliseconds(10))
        #expect(control.isOverdue)
    }

    /// The settlement decides what to do with such a result.
    @Test func workThatEndsInSpiteOfAStopReturnsItsValue() async throws {
        let value = try await control.run { [control] in
            control.stop(.shutdown)
            while !Task.isCancelled { await Task.yield() }
            return 7
        }
        #expect(value == 7)
    }

    @Test func cancellingTheCallerCancelsTheWorkWithoutAReason() async throws {
        let task = run()
        try await begun.pass()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(control.stopReason == nil)
    }
}
