import Cameo
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Jobs that are chosen by what they are.
@Suite(.timeLimit(.minutes(10)))
struct ManyJobsTests {
    private let bench: Workbench
    private let client: Client

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
    }

    private static func filter(_ change: (inout JobFilter) -> Void) -> JobFilter {
        var filter = JobFilter()
        change(&filter)
        return filter
    }

    /// Job 1 was discarded; 2 and 3 are of a batch, 4 is of a queue of its own.
    private func enqueueFour() async throws {
        let worker = try await bench.register()
        var requests = ["x/discarded", "a", "b", "x/c"].map {
            ThumbnailRequest(source: "file:///\($0).jpg", renditions: [Rendition(width: 64)])
        }
        _ = try await client.enqueue(requests.removeFirst())
        try await bench.discard(try await bench.begin(worker))
        (requests[0].batch, requests[1].batch, requests[2].queue) = ("holiday", "holiday", "web")
        (requests[0].labels, requests[1].concurrencyKey) = (["user:42"], "tenant")
        _ = try await client.enqueue(requests)
    }

    private func states() async throws -> [JobState] { try await client.jobs().reversed().map(\.state) }

    @Test func jobsAreListedNewestFirstAPageAtATime() async throws {
        try await enqueueFour()
        let page = try await client.jobs(limit: 3)
        #expect(page.map(\.id) == [4, 3, 2])
        #expect(
            page.map(\.batch) == [nil, "holiday", "holiday"] && page.map(\.queue) == ["web", "default", "default"]
        )
        #expect(try await client.jobs(before: 2).map(\.source) == ["file:///x/discarded.jpg"])
    }

    @Test(
        arguments: [
            (Self.filter { $0.states = [.discarded] }, [1]), (Self.filter { $0.codes = [.imageCorrupt] }, [1]),
            (Self.filter { $0.codes = [.sourceTimeout] }, []), (Self.filter { $0.queue = "web" }, [4]),
            (Self.filter { $0.batch = "holiday" }, [3, 2]), (Self.filter { $0.sourcePrefix = "file:///x/" }, [4, 1]),
            (Self.filter { ($0.states, $0.sourcePrefix) = ([.available], "file:///x/") }, [4]),
            (Self.filter { $0.label = "user:42" }, [2]), (Self.filter { $0.label = "user" }, []),
            (Self.filter { $0.concurrencyKey = "tenant" }, [3]), (Self.filter { $0.concurrencyKey = "" }, []),
            (JobFilter(), [4, 3, 2, 1]),
        ] as [(JobFilter, [Int64])]
    )
    func aFilterMeetsWhatItNames(filter: JobFilter, ids: [Int64]) async throws {
        try await enqueueFour()
        #expect(try await client.jobs(filter).map(\.id) == ids)
    }

    @Test func manyAreCalledOffAndTheEndedStayAsTheyAre() async throws {
        try await enqueueFour()
        let counted = try await client.cancel(Self.filter { $0.sourcePrefix = "file:///" }, .dryRun)
        #expect((counted.matched, counted.changed, counted.passed) == (3, 0, 0))
        #expect(try await states() == [.discarded, .available, .available, .available])
        #expect(try await client.cancel(Self.filter { $0.sourcePrefix = "file:///" }, limit: 1).changed == 1)
        #expect(try await states() == [.discarded, .cancelled, .available, .available], "the oldest first")
        let done = try await client.cancel(Self.filter { $0.batch = "holiday" })
        #expect((done.matched, done.changed, done.passed) == (1, 1, 0))
        #expect(try await states() == [.discarded, .cancelled, .cancelled, .available])
    }

    @Test func manyAreRetriedAndOnlyTheDiscardedUnlessSaidOtherwise() async throws {
        try await enqueueFour()
        try await client.cancel(Self.filter { $0.batch = "holiday" })
        #expect(try await client.retry(Self.filter { $0.sourcePrefix = "file:///" }).changed == 1)
        #expect(try await states() == [.available, .cancelled, .cancelled, .available])
        #expect(try await client.retry(Self.filter { $0.states = [.cancelled] }, limit: 9).changed == 2)
        #expect(try await states() == [.available, .available, .available, .available])
    }

    @Test(
        arguments: [
            (JobFilter(), nil, "filter"), (Self.filter { $0.states = [.completed] }, nil, "states"),
            (Self.filter { $0.queue = "web" }, 0, "limit"), (Self.filter { $0.sourcePrefix = "" }, nil, "sourcePrefix"),
        ] as [(JobFilter, Int?, String)]
    )
    func whatCannotBeMeantIsRefused(filter: JobFilter, limit: Int?, field: String) async throws {
        try await enqueueFour()
        try await expectInvalid(field) { try await client.cancel(filter, limit: limit) }
        #expect(try await states() == [.discarded, .available, .available, .available])
    }
}
