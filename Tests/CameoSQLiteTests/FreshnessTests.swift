import CameoHTTPCache
import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Requests that need no job because fresh thumbnails already exist.
@Suite(.timeLimit(.minutes(10)))
struct FreshnessTests {
    private func make(_ fixture: StoreFixture, _ source: String) async throws {
        try await make(fixture) { $0.source = source }
    }

    private func make(_ fixture: StoreFixture, _ change: (inout ThumbnailRequest) -> Void) async throws {
        _ = try await fixture.enqueueDuplicate(change)
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        try await fixture.store.complete(
            job.claim,
            storing: try StoreFixture.rendered(job),
            from: try StoreFixture.provenance(),
            timings: AttemptTimings()
        )
    }

    @Test(arguments: [
        ("data:,picture", Refresh.ifChanged, EnqueueReceipt.Outcome.fresh), ("data:,picture", .never, .fresh),
        ("data:,picture", .always, .accepted), ("initials:AB", .ifChanged, .fresh),
        ("cameo://blob/sha256-\(String(repeating: "0", count: 64))", .ifChanged, .fresh),
        ("file:///a.jpg", .ifChanged, .accepted), ("file:///a.jpg", .never, .fresh),
        ("https://pictures.example/a.jpg", .ifChanged, .accepted),
    ])
    func freshThumbnailsNeedNoJob(source: String, refresh: Refresh, outcome: EnqueueReceipt.Outcome) async throws {
        let fixture = try StoreFixture()
        try await make(fixture, source)
        let receipt = try await fixture.enqueueDuplicate {
            $0.source = source
            $0.refresh = refresh
        }
        #expect(receipt.outcome == outcome)
        #expect((receipt.id == nil) == (outcome == .fresh))
        #expect((receipt.thumbnails[0].blob != nil) == (outcome == .fresh))
    }

    /// A batch includes every request made in its name.
    @Test func inABatchAFreshRequestLeavesACompletedJob() async throws {
        let fixture = try StoreFixture()
        try await make(fixture, "data:,picture")
        let receipt = try await fixture.enqueueDuplicate {
            $0.source = "data:,picture"
            $0.batch = "b"
        }
        #expect((receipt.outcome, receipt.state) == (.fresh, .completed))
        let job = try await fixture.store.job(try #require(receipt.id))
        #expect((job.state, job.attempt) == (.completed, 0))
        #expect(job.thumbnails == receipt.thumbnails)
        #expect(try await fixture.store.claim(limit: 1, for: "w1").isEmpty)
        let again = try await fixture.enqueueDuplicate {
            $0.source = "data:,picture"
            $0.batch = "b"
        }
        #expect((again.outcome, again.id) == (.fresh, receipt.id), "the batch has it already")
        let report = try await fixture.store.batch("b")
        #expect((report.total, report.finished, report.finishedLastMinute) == (1, 1, 0))
        try await make(fixture, "data:,another")
        let other = try await fixture.enqueueDuplicate {
            $0.source = "data:,another"
            $0.batch = "b"
        }
        #expect(other.outcome == .fresh)
        #expect(try await fixture.store.batch("b").total == 2, "each request has its own job in the batch")
        #expect(try await fixture.store.check().filter { $0.severity != .ok } == [])
    }

    @Test func aRequestForLaterOrForMoreNeedsAJob() async throws {
        let fixture = try StoreFixture()
        try await make(fixture, "data:,picture")
        let later = try await fixture.enqueueDuplicate {
            $0.source = "data:,picture"
            $0.runAt = fixture.clock.storeClock.now().addingTimeInterval(5)
        }
        #expect(later.outcome == .accepted)
        let more = try await fixture.enqueueDuplicate {
            $0.source = "data:,picture"
            $0.renditions.append(Rendition(width: 17))
        }
        #expect(more.outcome == .accepted)
    }

    /// Freshness comes from the cached answer alone; no server is asked.
    @Test(arguments: [
        ("fresh", EnqueueReceipt.Outcome.fresh), ("pinned", .fresh), ("stale", .accepted), ("other bytes", .accepted),
        ("varies", .accepted), ("varies since", .accepted), ("other scope", .accepted), ("by its URI", .fresh),
    ])
    func aFreshCachedAnswerNeedsNoJob(state: String, outcome: EnqueueReceipt.Outcome) async throws {
        let fixture = try StoreFixture()
        let uri = "https://pictures.example/a.jpg"
        let asked = state == "by its URI" ? CameoURI.source(uri).text : uri
        try await make(fixture, asked)
        let bytes = Data((state == "other bytes" ? "another" : "picture").utf8)
        let now = fixture.clock.storeClock.now()
        let scope = state == "other scope" ? RequestScope(headers: ["Cookie": "a"]) : nil
        let source = CachedSource(
            key: SourceKey(uri: uri, scope: scope),
            variant: state == "varies" ? "accept" : "",
            finalURL: uri,
            head: CacheableResponse(status: 200, requestTime: now, responseTime: now),
            freshUntil: now.addingTimeInterval(state == "stale" || state == "pinned" ? 0 : 60),
            blob: BlobDigest(of: bytes),
            bytes: bytes.count,
            sourceSeen: 9,
            peers: [Peer(origin: uri, .program)],
            isPinned: state == "pinned"
        )
        try await fixture.store.keep(source, data: bytes, budget: nil)
        if state == "varies since" {
            try await fixture.keep("b", uri: uri, variant: "accept", seen: 10)
        }
        #expect(try await fixture.enqueueDuplicate { $0.source = asked }.outcome == outcome)
    }

    @Test func answersToOthersDoNotApplyToATenant() async throws {
        let fixture = try StoreFixture()
        let (uri, headers, bytes) = ("https://pictures.example/a.jpg", ["Cookie": "a"], Data("picture".utf8))
        func change(_ request: inout ThumbnailRequest) { (request.source, request.headers) = (uri, headers) }
        try await make(fixture, change)
        for (scope, outcome) in [(nil, EnqueueReceipt.Outcome.accepted), (RequestScope(headers: headers), .fresh)] {
            let answer = StoreFixture.original(bytes, uri: uri, scope: scope, isPinned: true)
            try await fixture.store.keep(answer, data: bytes, budget: nil)
            #expect(try await fixture.enqueueDuplicate(change).outcome == outcome)
        }
    }

    @Test func aDamagedThumbnailNeedsAJob() async throws {
        let fixture = try StoreFixture()
        try await make(fixture, "data:,picture")
        _ = try await fixture.sql("UPDATE blob SET data = zeroblob(size)")
        #expect(try await fixture.enqueueDuplicate { $0.source = "data:,picture" }.outcome == .accepted)
    }

    /// The bytes of an overlay are not recorded.
    @Test(arguments: [("file:///mark.png", EnqueueReceipt.Outcome.accepted), ("data:,mark", .fresh)])
    func anOverlayThatMayChangeNeedsAJob(overlay: String, outcome: EnqueueReceipt.Outcome) async throws {
        let fixture = try StoreFixture()
        func change(_ request: inout ThumbnailRequest) {
            request.source = "data:,picture"
            request.renditions[0].look.overlay = Rendition.Overlay(source: overlay)
        }
        try await make(fixture, change)
        #expect(try await fixture.enqueueDuplicate(change).outcome == outcome)
    }
}
