import CameoFetch
import CameoModel
import CameoSystem
import Foundation
import TestSupport
import Testing

@Suite(.origin, .timeLimit(.minutes(10)))
struct HTTPTimeoutTests {
    private let origin = Origin.ofSuite

    @Test(arguments: ["/never", "/stall", "/slow"])
    func whatTakesTooLongInAllTimesOut(path: String) async throws {
        let fetcher = try Fetcher(FetchConfiguration.forTests.with(\.totalTimeout, .milliseconds(300)))
        let failure = try await failure(of: origin.url(path), with: fetcher)
        #expect(failure.code == .sourceTimeout)
        #expect(failure.isRetryable)
        #expect(failure.message == "GET \(origin.url(path)) did not finish within 0.3 seconds")
    }

    @Test(arguments: ["/never", "/stall", "/slow"])
    func whatIsTooSlowTimesOut(path: String) async throws {
        let fetcher = try Fetcher(FetchConfiguration.forTests.with(\.lowSpeedTime, .seconds(1)))
        let failure = try await failure(of: origin.url(path), with: fetcher)
        #expect(failure.code == .sourceTimeout)
        #expect(failure.message.contains("less than 1024 bytes a second for 1.0 seconds"))
    }

    @Test
    func aHandshakeThatIsNeverAnsweredTimesOut() async throws {
        let silent = try SilentServer()
        let fetcher = try Fetcher(FetchConfiguration.forTests.with(\.connectTimeout, .milliseconds(300)))
        let failure = try await failure(of: "https://127.0.0.1:\(silent.port)/x", with: fetcher)
        #expect(failure.code == .sourceTimeout)
        #expect(failure.message.contains("was not connected within 0.3 seconds"))
    }

    @Test
    func theTotalTimeIsSharedByAllHops() async throws {
        let fetcher = try Fetcher(
            FetchConfiguration.forTests.with(\.totalTimeout, .milliseconds(400)).with(\.maximumRedirects, 1_000_000)
        )
        try await expect(.sourceTimeout, of: origin.url("/loop"), by: fetcher)
    }

    @Test(arguments: ["cancelled", "shut down"])
    func aFetchThatIsEndedHangsUp(how: String) async throws {
        let origin = try await Origin.start()
        let fetcher = try Fetcher(.forTests)
        let task = Task { try await fetcher.fetch(origin.url("/never")) }
        try await origin.awaitArrivals(of: "/never")
        if how == "cancelled" { task.cancel() } else { fetcher.shutdown() }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await origin.awaitAborts(of: "/never")
    }

    @Test
    func oneSlowTransferHoldsUpNoOther() async throws {
        let origin = try await Origin.start()
        let fetcher = try Fetcher(.forTests)
        let slow = Task { try await fetcher.fetch(origin.url("/never")) }
        try await origin.awaitArrivals(of: "/never")
        #expect(try await fetcher.fetch(origin.url("/bytes")).bytes == 1_000)
        slow.cancel()
    }

    @Test
    func transfersForOneHostWaitTheirTurnWithoutLosingTime() async throws {
        let origin = try await Origin.start()
        let fetcher = try Fetcher(FetchConfiguration.forTests.with(\.maximumConnectionsPerHost, 2))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<12 { group.addTask { try await fetcher.fetch(origin.url("/held?count=10")).bytes } }
            try await origin.awaitArrivals(of: "/held", count: 2)
            // Another host (by name) has room of its own.
            #expect(try await fetcher.fetch(origin.url("/bytes", host: "localhost")).bytes == 1_000)
            try await origin.release()
            for try await bytes in group { #expect(bytes == 10) }
        }
        let counts = try await origin.counts()
        #expect(counts.peaks["/held"] == 2)
        #expect(counts.requests["/held"] == 12)
    }

    /// One transfers and two may wait, however long; whoever comes behind is sent away once the first has waited for long.
    @Test
    func aSlowHostHasFewWhoWaitForIt() async throws {
        let origin = try await Origin.start()
        let configuration = FetchConfiguration.forTests.with(\.maximumConnectionsPerHost, 1)
            .with(\.maximumTransfers, 2).with(\.hostPatience, .milliseconds(50))
        let fetcher = try Fetcher(configuration)
        let clock = WorkClock()
        let outcomes = try await withThrowingTaskGroup(of: Duration?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        _ = try await fetcher.fetch(origin.url("/held?count=10"), clock: clock)
                        return nil
                    } catch let busy as HostBusy {
                        #expect(busy.host == "127.0.0.1")
                        return busy.delay
                    }
                }
            }
            var delays: [Duration] = []
            while delays.count < 5 { delays += try await [group.next()].compactMap(\.self).compactMap(\.self) }
            // Those who wait take no transfer from another host.
            #expect(try await fetcher.fetch(origin.url("/bytes", host: "localhost")).bytes == 1_000)
            try await origin.release()
            for try await delay in group { #expect(delay == nil) }
            return delays
        }
        #expect(outcomes.sorted() == (1...5).map { .seconds($0) })
        #expect(clock.waited >= .milliseconds(50))
        #expect(try await origin.counts().requests["/held"] == 3)
    }

    @Test
    func aFetchThatWaitsItsTurnCanBeCancelled() async throws {
        let origin = try await Origin.start()
        let fetcher = try Fetcher(FetchConfiguration.forTests.with(\.maximumConnections, 1))
        let first = Task { try await fetcher.fetch(origin.url("/never")) }
        try await origin.awaitArrivals(of: "/never")
        let second = Task { try await fetcher.fetch(origin.url("/bytes")) }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await fetcher.fetch(origin.url("/bytes")).bytes == 1_000)
    }
}
