import CameoModel
import CameoPostgreSQL
import CameoQueue
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Work goes on in a store that was imported.
@Suite(.timeLimit(.minutes(10)))
struct ImportedStoreTests {
    @Test(arguments: [true, false])
    func workersAndProducersGoOnWhereTheyWere(inADatabase: Bool) async throws {
        let fixture = try await ExportFixture(.folder)
        let old = try await fixture.furnished()
        let url = fixture.server.newURL()
        let cursor = try await old.lastChange()
        let store: any Store & ExportableStore =
            inADatabase ? try fixture.database(url) : try fixture.folderStore("new")
        #expect(try await fixture.imported(fixture.exported(old).stream, into: store).differences.isEmpty)
        let before = try await old.status().jobs
        #expect(try await store.status().jobs == before)

        // A repeated request finds its first receipt, and one for the same thumbnails the waiting job.
        var upload = Fixture.request("cameo://unused")
        upload.batch = "uploads"
        let once = try IdempotencyKey("once", of: "me")
        let first = try await old.data(of: .blob(BlobDigest(of: Data("an upload".utf8))))
        let repeated = try await store.enqueue(upload, data: first, cacheKey: nil, once: once)
        #expect(repeated.outcome == .accepted)
        let joined = try await store.enqueue([Fixture.request("file:///pictures/urgent.jpg")])
        #expect(joined.first?.outcome == .joined)
        let unique = try await store.enqueue([
            Fixture.request("file:///pictures/another.jpg") { $0.uniqueKey = "only one" }
        ])
        #expect(unique.first?.outcome == .joined)
        #expect(try await store.status().jobs == before)

        // New ids follow those that were ever issued.
        var all = JobFilter()
        all.limit = .max
        let highest = try #require(try await old.jobs(all).map(\.id).max())
        let insertion =
            #"INSERT INTO job(request) VALUES ('{"source": "file:///c.jpg", "renditions": [{"width": 9}]}')"#
        try await fixture.sql("\(insertion);", of: store)
        #expect(try await fixture.sql("SELECT max(id) FROM job;", of: store) == "\(highest + 1)")
        #expect(try await store.enqueue([Fixture.request("file:///d.jpg")]).first?.id == highest + 2)

        try await expectWork(store, fixture, urgent: try #require(joined.first?.id))
        let changes = try await store.changes(since: cursor, limit: 1)
        #expect(changes.map(\.cursor) == [cursor + 1], "a follower goes on")
    }

    private func expectWork(_ store: any Store, _ fixture: ExportFixture, urgent: Int64) async throws {
        try await store.register(WorkerDescription(id: "w9", host: "h", pid: 1, version: "test", concurrency: 99))
        let jobs = try await store.claim(limit: 99, for: "w9")
        let order = try jobs.map { try $0.parsedRequest().source.suffix(10) }
        let job = try #require(jobs.first { $0.claim.jobID == urgent })
        let place = try #require(order.firstIndex { $0.hasSuffix("urgent.jpg") })
        #expect(place < order.firstIndex { $0.hasSuffix("hooked.jpg") } ?? 0)
        // Those of paused queues, of a rate that is used up, and those that are not due wait.
        let sources = Set(try jobs.map { try $0.parsedRequest().source })
        #expect(sources.contains("file:///pictures/hooked.jpg") && sources.contains("file:///pictures/later.jpg"))
        for name in ["held", "scheduled", "retried", "second of the key"] {
            #expect(!sources.contains("file:///pictures/\(name).jpg"), "\(name)")
        }
        let upload = try #require(jobs.first { $0.request.contains("upload:") })
        let request = try await store.absorbUpload(upload)
        #expect(request.source == CameoURI.blob(BlobDigest(of: Data([1, 2]))).text)
        let product = try Fixture.product(of: job, bytes: "made", seen: try await store.nextSourceSeen())
        try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
        #expect(try await store.job(urgent).state == .completed)
        #expect(
            try await store.data(of: .thumbnail(try job.parsedRequest().thumbnailIDs()[0])) == Data("made".utf8)
        )
        // The delivery that waits, and the end of the hooked job.
        for other in jobs where other.claim.jobID != urgent { _ = try await store.cancel(other.claim.jobID) }
        fixture.clock.advance(seconds: 600)
        let deliveries = try await store.claimDeliveries(["site": 9, "other": 9], for: "w9")
        #expect(Set(deliveries.map(\.hook)) == ["site", "other"])
        _ = try await store.resume("held")
        #expect(try await store.claim(limit: 9, for: "w9").count == 1)
        fixture.clock.advance(seconds: 3_600)
        let due = try await store.claim(limit: 9, for: "w9")
        #expect(due.count == 2, "the one to retry and the one whose rate allows it")
    }
}
