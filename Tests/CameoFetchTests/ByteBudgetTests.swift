import CameoFetch
import CameoModel
import CameoSystem
import Foundation
import TestSupport
import Testing

@Suite(.origin, .timeLimit(.minutes(10)))
struct ByteBudgetTests {
    private let origin = Origin.ofSuite

    /// Returns when somebody waits, and has for some time.
    private func awaitWaiting(_ clock: WorkClock, atLeast time: Duration = .milliseconds(1)) async throws {
        try await eventually("somebody waits") { clock.waited >= time }
    }

    @Test func whoFindsNoRoomWaitsUntilItIsGivenBack() async throws {
        let budget = ByteBudget(limit: 100)
        let (clock, later) = (WorkClock(), WorkClock())
        let first = try await budget.reserve(60, clock)
        let second = Task { try await budget.reserve(50, clock) }
        try await awaitWaiting(clock)
        // There would be room for it, but not before its turn.
        let third = Task { try await budget.reserve(40, later) }
        try await awaitWaiting(later)
        // A job that holds something already must not wait.
        _ = try await budget.reserve(500, for: .overlay, WorkClock())
        first.shrink(to: 50)
        let held = try await second.value
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        withExtendedLifetime((first, held)) {}
    }

    @Test func whatIsLargerThanAllGoesAlone() async throws {
        let budget = ByteBudget(limit: 100)
        let clock = WorkClock()
        let small = try await budget.reserve(1, clock)
        let large = Task { try await budget.reserve(1_000, clock) }
        try await awaitWaiting(clock)
        small.shrink(to: 0)
        let held = try await large.value
        let next = Task { try await budget.reserve(1, WorkClock()) }
        next.cancel()
        await #expect(throws: CancellationError.self) { try await next.value }
        withExtendedLifetime(held) {}
    }

    /// A download that finds no room is held back, for longer than its own limit of time, until a source has gone.
    @Test func downloadsWaitForRoomAndLoseNoTime() async throws {
        var configuration = FetchConfiguration.forTests
        configuration.budget = ByteBudget(limit: 1_500)
        configuration.totalTimeout = .milliseconds(1_500)
        let fetcher = try Fetcher(configuration)
        var first: FetchedSource? = try await fetcher.fetch(origin.url("/bytes"))
        #expect(first?.bytes == 1_000)
        let (clock, url) = (WorkClock(), origin.url("/bytes"))
        let second = Task { try await fetcher.fetch(url, clock: clock) }
        try await awaitWaiting(clock, atLeast: .seconds(2))
        #expect(try await fetcher.fetch(origin.url("/bytes"), for: .overlay).bytes == 1_000)
        first = nil
        #expect(try await second.value.contents().count == 1_000)
    }

    @Test func aDownloadThatWaitsForRoomCanBeCancelled() async throws {
        var configuration = FetchConfiguration.forTests
        configuration.budget = ByteBudget(limit: 1)
        let fetcher = try Fetcher(configuration)
        let first = try await fetcher.fetch(origin.url("/bytes"))
        let (clock, url) = (WorkClock(), origin.url("/bytes"))
        let second = Task { try await fetcher.fetch(url, clock: clock) }
        try await awaitWaiting(clock)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        withExtendedLifetime(first) {}
        first.file.status().map { #expect($0.st_size == 1_000) }
    }

    /// Without a length nobody knows how much it will be: the oldest always gets through.
    @Test func downloadsThatOutgrowTheBudgetTogetherAllEnd() async throws {
        var configuration = FetchConfiguration.forTests
        configuration.budget = ByteBudget(limit: 3 << 20)
        let fetcher = try Fetcher(configuration)
        let url = origin.url("/gzip-bomb?mib=1")
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<12 { group.addTask { try await fetcher.fetch(url).bytes } }
            return try await group.reduce(0, +)
        }
        #expect(total == 12 * (try await fetcher.fetch(url).bytes))
    }
}
