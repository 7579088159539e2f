import CameoModel
import CameoReport
import CameoStore
import TestSupport
import Testing

/// Jobs, page by page.
@Suite(.timeLimit(.minutes(10)))
struct ThumbnailListingTests {
    @Test func everyJobIsListedOnceTheNewestFirst() async throws {
        let bench = try await ReportBench()
        // One more than two pages.
        let requests = (1...401).map {
            ThumbnailRequest(source: "file:///\($0).jpg", renditions: [Rendition(width: 9)])
        }
        let ids = try await bench.store.enqueue(requests).map { try $0.jobID }
        var listed: [Int64] = []
        try await bench.store.forEachJob(JobFilter(batch: nil)) { listed.append($0.id) }
        #expect(listed == ids.reversed())
    }

    @Test func onlyJobsOfTheBatchAreListed() async throws {
        let bench = try await ReportBench()
        let job = try await bench.complete("file:///a.jpg", batch: "b")
        _ = try await bench.complete("file:///b.jpg")
        var listed: [Int64] = []
        try await bench.store.forEachJob(JobFilter(batch: "b")) { listed.append($0.id) }
        #expect(listed == [job.id])
    }

    @Test func anEmptyStoreHasNothingToList() async throws {
        try await ReportBench().store.forEachJob(JobFilter(batch: nil)) { Issue.record("\($0)") }
    }
}
