import CameoFetch
import CameoModel
import CameoSystem
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct SharedFetchTests {
    private let origin: Origin
    private let fetcher: Fetcher

    init() async throws {
        origin = try await Origin.start()
        // What is held back is not slow: on a busy machine the others may take long to come.
        fetcher = try Fetcher(.forTests)
    }

    private static let first = FetchTicket(sourceSeen: 5, after: 4, isFirstAttempt: true)

    private func begin(
        _ ticket: FetchTicket,
        _ path: String = "/held",
        headers: [String: String] = [:]
    ) -> Task<FetchedSource, any Error> {
        // Runs up to its wait before this returns.
        Task.immediate { try await fetcher.fetch(origin.url(path), headers: headers, ticket: ticket) }
    }

    @Test
    func jobsThatWantOneSourceAtOneTimeMakeOneDownload() async throws {
        let first = begin(Self.first)
        try await origin.awaitArrivals(of: "/held")
        let others = (2...10).map { job in
            begin(FetchTicket(sourceSeen: Int64(job) + 4, after: 4, isFirstAttempt: true))
        }
        try await origin.release()
        let source = try await first.value
        for other in others {
            let shared = try await other.value
            #expect(shared.digest == source.digest)
            #expect(shared.file.descriptor == source.file.descriptor)
            #expect(try shared.contents().count == 1_000)
            // What is made of it counts as old as the download is.
            #expect(shared.ticket == Self.first)
        }
        #expect(try await origin.counts().requests["/held"] == 1)
    }

    /// To Swift's own comparison these are the same: é, and e with an accent.
    @Test
    func sourcesAndHeadersThatOnlyLookAlikeAreDownloadedApart() async throws {
        let fetches = [
            begin(Self.first, "/held?name=caf\u{e9}"), begin(Self.first, "/held?name=cafe\u{301}"),
            begin(Self.first, headers: ["X-Name": "caf\u{e9}"]), begin(Self.first, headers: ["X-Name": "cafe\u{301}"]),
        ]
        try await origin.awaitArrivals(of: "/held")
        try await origin.release()
        for fetch in fetches { _ = try await fetch.value }
        #expect(try await origin.counts().requests["/held"] == 4)
    }

    @Test(arguments: [
        (FetchTicket(sourceSeen: 6, after: 4, isFirstAttempt: true), true),
        // Accepted after the download began.
        (FetchTicket(sourceSeen: 6, after: 5, isFirstAttempt: true), false),
        // An operator asked for it anew, perhaps after the download began.
        (FetchTicket(sourceSeen: 6, after: 4, isFirstAttempt: false), false),
        // Began before the download did, and so was accepted before.
        (FetchTicket(sourceSeen: 4, after: 3, isFirstAttempt: false), true),
    ])
    func onlyADownloadThatBeganAfterTheJobWasAcceptedIsJoined(ticket: FetchTicket, joins: Bool) async throws {
        #expect(ticket.mayJoin(Self.first) == joins)
        let first = begin(Self.first)
        try await origin.awaitArrivals(of: "/held")
        let second = begin(ticket)
        if !joins {
            try await origin.awaitArrivals(of: "/held", count: 2)
        }
        try await origin.release()
        _ = try await first.value
        #expect(try await second.value.ticket == (joins ? Self.first : ticket))
        #expect(try await origin.counts().requests["/held"] == (joins ? 1 : 2))
    }

    @Test
    func aDownloadThatCouldNotBeJoinedIsTheNextOnesToJoin() async throws {
        let first = begin(Self.first)
        try await origin.awaitArrivals(of: "/held")
        let later = FetchTicket(sourceSeen: 6, after: 5, isFirstAttempt: true)
        let second = begin(later)
        try await origin.awaitArrivals(of: "/held", count: 2)
        let third = begin(FetchTicket(sourceSeen: 7, after: 5, isFirstAttempt: true))
        try await origin.release()
        #expect(try await third.value.ticket == later)
        _ = try await (first.value, second.value)
        #expect(try await origin.counts().requests["/held"] == 2)
    }

    @Test
    func requestsWithOtherHeadersOrWithoutATicketShareNothing() async throws {
        let second = FetchTicket(sourceSeen: 6, after: 4, isFirstAttempt: true)
        let tasks = [
            begin(Self.first), begin(second, headers: ["Authorization": "Bearer a"]),
            begin(second, headers: ["Authorization": "Bearer b"]),
            Task { try await fetcher.fetch(origin.url("/held")) },
        ]
        try await origin.awaitArrivals(of: "/held", count: 4)
        try await origin.release()
        for task in tasks { #expect(try await task.value.bytes == 1_000) }
    }

    @Test
    func whoIsCancelledLeavesTheOthersTheirDownload() async throws {
        let first = begin(Self.first)
        try await origin.awaitArrivals(of: "/held")
        let second = begin(FetchTicket(sourceSeen: 6, after: 4, isFirstAttempt: true))
        let third = begin(FetchTicket(sourceSeen: 7, after: 4, isFirstAttempt: true))
        for task in [first, third] {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        try await origin.release()
        #expect(try await second.value.bytes == 1_000)
        let counts = try await origin.counts()
        #expect(counts.requests["/held"] == 1)
        #expect(counts.aborts["/held"] == nil)
    }

    @Test
    func aDownloadThatNobodyWaitsForAnyMoreHangsUp() async throws {
        let first = begin(Self.first, "/never")
        try await origin.awaitArrivals(of: "/never")
        let ticket = FetchTicket(sourceSeen: 6, after: 4, isFirstAttempt: true)
        let second = begin(ticket, "/never")
        first.cancel()
        second.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await #expect(throws: CancellationError.self) { try await second.value }
        try await origin.awaitAborts(of: "/never")
        // And is joined by nobody.
        let third = begin(ticket, "/never")
        try await origin.awaitArrivals(of: "/never", count: 2)
        third.cancel()
    }

    @Test
    func aFailureIsShared() async throws {
        let first = begin(Self.first, "/held?status=503")
        try await origin.awaitArrivals(of: "/held")
        let second = begin(
            FetchTicket(sourceSeen: 6, after: 4, isFirstAttempt: true),
            "/held?status=503"
        )
        try await origin.release()
        for task in [first, second] {
            let failure = await #expect(throws: JobFailure.self) { _ = try await task.value }
            #expect(failure?.code == .sourceHTTPStatus)
            #expect(failure?.retryAfter == .seconds(9))
        }
        #expect(try await origin.counts().requests["/held"] == 1)
    }

    @Test
    func aShutdownEndsSharedDownloads() async throws {
        let first = begin(Self.first, "/never")
        try await origin.awaitArrivals(of: "/never")
        fetcher.shutdown()
        await #expect(throws: CancellationError.self) { try await first.value }
    }

    @Test
    func whatIsOverIsFetchedAnew() async throws {
        for job in 1...3 as ClosedRange<Int64> {
            let ticket = FetchTicket(sourceSeen: job, after: 0, isFirstAttempt: true)
            _ = try await fetcher.fetch(origin.url("/bytes"), ticket: ticket)
        }
        #expect(try await origin.counts().requests["/bytes"] == 3)
    }
}
