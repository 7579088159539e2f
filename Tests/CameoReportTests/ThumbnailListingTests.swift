import CameoModel
import CameoReport
import CameoStore
import TestSupport
import Testing

/// Jobs and thumbnails, page by page.
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
        try await ThumbnailListing(store: bench.store, batch: nil).forEachJob { listed.append($0.id) }
        #expect(listed == ids.reversed())
    }

    @Test func onlyThumbnailsThatExistAreListed() async throws {
        let bench = try await ReportBench()
        let job = try await bench.complete("file:///a.jpg", batch: "b")
        _ = try await bench.complete("file:///b.jpg")
        _ = try await bench.enqueue("file:///c.jpg", batch: "b")
        var listed: [Int64] = []
        try await ThumbnailListing(store: bench.store, batch: "b").forEach { listed.append($0.job.id) }
        #expect(listed == [job.id])
        var all = 0
        try await ThumbnailListing(store: bench.store, batch: nil).forEach { _ in all += 1 }
        #expect(all == 2)
    }

    @Test func anEmptyStoreHasNothingToList() async throws {
        let listing = ThumbnailListing(store: try await ReportBench().store, batch: nil)
        try await listing.forEachJob { Issue.record("\($0)") }
    }
}
