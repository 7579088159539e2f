import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// The retention of unused thumbnails.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ThumbnailRetentionTests {
    private static let hour = 3_600.0
    private let fixture: StoreFixture

    init() async throws {
        fixture = try await StoreFixture()
    }

    private var store: PostgreSQLStore { fixture.store }

    @Test func aThumbnailExpiresAndItsBlobIsCollected() async throws {
        let id = try await fixture.makeThumbnail()
        fixture.clock.advance(seconds: 10 * StoreFixture.day + Self.hour)
        #expect(try await store.prunable(StoreFixture.tenDays).isEmpty, "its retention and one step must be over")
        fixture.clock.advance(seconds: 0.001)
        #expect(try await store.prunable(StoreFixture.tenDays).thumbnails == 1)
        #expect(try await fixture.isThere(id), "prunable removes nothing")
        #expect(try await fixture.prune(.forever).thumbnails == 0)
        let pruned = try await fixture.prune(StoreFixture.tenDays)
        #expect((pruned.thumbnails, pruned.jobs) == (1, 0))
        await #expect(throws: StoreError.notFound(uri: CameoURI.thumbnail(id).text)) { try await store.thumbnail(id) }
        #expect(try await store.status().thumbnails == 0)
        // The trigger that records when a blob was orphaned uses the machine's clock, which is far behind the test's.
        #expect((pruned.blobs, try await store.status().blobs.count) == (1, 0))
        #expect(try await fixture.wrongCounts() == "")
    }

    /// Before reads were recorded, any thumbnail may have been read at any time.
    @Test func noneExpiresBeforeReadsHaveBeenRecordedForAsLong() async throws {
        try await fixture.makeThumbnail()
        fixture.clock.advance(seconds: 11 * StoreFixture.day)
        let since = fixture.clock.now.addingTimeInterval(-10 * StoreFixture.day)
        _ = try await fixture.sql("UPDATE epoch SET since = \(since.milliseconds)")
        #expect(try await fixture.prune(StoreFixture.tenDays).isEmpty)
        fixture.clock.advance(seconds: 2 * Self.hour)
        #expect(try await fixture.prune(StoreFixture.tenDays).thumbnails == 1)
    }

    /// The job is unchanged and names thumbnails that no longer exist, like a waiting job or after `forget`.
    @Test func itsJobIsStillCompletedAndNamesIt() async throws {
        let id = try await fixture.makeThumbnail()
        fixture.clock.advance(seconds: 11 * StoreFixture.day)
        try await fixture.prune(StoreFixture.tenDays)
        let job = try await store.job(1)
        #expect(job.state == .completed)
        #expect(job.thumbnails.map(\.uri) == [.thumbnail(id)])
        #expect(job.thumbnails.allSatisfy { $0.blob == nil && $0.width == nil })
        let seen = try await fixture.sql(
            "SELECT state, thumbnails -> 0 ->> 'uri', thumbnails -> 0 ->> 'blob' FROM job_status"
        )
        #expect(seen == "completed|cameo://thumb/\(id)|")
    }

    /// `initials:` cannot change, so even with `if-changed` the first answer would be `fresh`.
    @Test(arguments: [Refresh.never, .ifChanged])
    func aNewRequestMakesItAgain(refresh: Refresh) async throws {
        let id = try await fixture.makeThumbnail(of: "initials:AB")
        fixture.clock.advance(seconds: 11 * StoreFixture.day)
        try await fixture.prune(StoreFixture.tenDays)
        let request = StoreFixture.request("initials:AB") { $0.refresh = refresh }
        let receipt = try #require(try await store.enqueue([request]).first)
        #expect(receipt.outcome == .accepted)
        #expect(try await !store.have([id], as: nil), "its worker will not find an existing one")
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        try await store.complete(job)
        #expect(try await fixture.isThere(id))
        #expect(try await store.enqueue([request]).first?.outcome == .fresh)
    }

    /// The ways to use a thumbnail.
    enum Use: CaseIterable {
        case readByItsName, readByItsBlob, answeredFresh, keptAsItWas, keptOfTheSameBytes, madeAnew, sourceOfAJob
        case overlayOfAJob
    }

    @Test(arguments: Use.allCases)
    func aUseRestartsTheRetention(use: Use) async throws {
        let id = try await fixture.makeThumbnail()
        fixture.clock.advance(seconds: 9 * StoreFixture.day)
        try await self.use(id, use)
        fixture.clock.advance(seconds: 10 * StoreFixture.day)
        #expect(try await fixture.prune(StoreFixture.tenDays).thumbnails == 0)
        #expect(try await fixture.isThere(id))
        fixture.clock.advance(seconds: Self.hour + 1)
        _ = try await fixture.prune(StoreFixture.tenDays)
        #expect(try await !fixture.isThere(id))
    }

    private func use(_ id: ThumbnailID, _ use: Use) async throws {
        switch use {
        case .readByItsName:
            store.noteReading(of: .thumbnail(id))
            await store.recordReadings()
        case .readByItsBlob:
            store.noteReading(of: .blob(try await store.thumbnail(id).blob))
            // Like a program that is about to exit.
            await store.finish()
        case .answeredFresh:
            let receipt = try await store.enqueue([StoreFixture.request { $0.refresh = .never }]).first
            #expect(receipt?.outcome == .fresh)
        case .keptAsItWas: try await keep([id], seen: nil)
        case .keptOfTheSameBytes:
            let provenance = try StoreFixture.provenance()
            let seen = Revalidation(
                sourceDigest: provenance.sourceDigest,
                overlayDigests: [nil],
                sourceSeen: 2,
                rendererVersion: provenance.rendererVersion
            )
            try await keep([id], seen: seen)
        case .madeAnew: try await fixture.makeThumbnail { $0.refresh = .always }
        case .sourceOfAJob: try await begin(StoreFixture.request(CameoURI.thumbnail(id).text))
        case .overlayOfAJob: try await begin(StoreFixture.request("file:///b.jpg", overlay: .thumbnail(id)))
        }
    }

    private func keep(_ ids: [ThumbnailID], seen: Revalidation?) async throws {
        _ = try await store.enqueue([StoreFixture.request { $0.refresh = .always }])
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        try await store.complete(job.claim, keeping: ids, seen: seen)
    }

    /// Begins a job and cancels it, so that only the read itself keeps its inputs.
    private func begin(_ request: ThumbnailRequest) async throws {
        _ = try await store.enqueue([request])
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        _ = try await store.beginFetch(job.claim, of: request)
        _ = try await store.cancel(job.claim.jobID)
    }

    @Test func aJobReportOrAReadOnlyStoreDoesNotCountAsARead() async throws {
        let id = try await fixture.makeThumbnail()
        fixture.clock.advance(seconds: 9 * StoreFixture.day)
        _ = try await store.job(1)
        _ = try await store.thumbnail(id)
        let reader = try fixture.reader()
        #expect(try await reader.data(of: .thumbnail(id)) == Data("thumbnail of file:///pictures/a.jpg".utf8))
        reader.noteReading(of: .thumbnail(id))
        await reader.recordReadings()
        fixture.clock.advance(seconds: 2 * StoreFixture.day)
        #expect(try await fixture.prune(StoreFixture.tenDays).thumbnails == 1)
    }

    /// The states of a job that needs the thumbnail. It has waited a hundred days, and may wait a hundred more.
    @Test(arguments: [JobState.scheduled, .available, .running, .retryable], [false, true])
    func inputsOfAJobAreKeptUntilItEnds(state: JobState, isOverlay: Bool) async throws {
        let id = try await fixture.makeThumbnail()
        let name = CameoURI.thumbnail(id)
        var request = isOverlay ? StoreFixture.request("file:///b.jpg", overlay: name) : StoreFixture.request(name.text)
        let later = fixture.clock.now.addingTimeInterval(1_000 * StoreFixture.day)
        if state == .scheduled { request.runAt = later }
        let job = try #require(try await store.enqueue([request]).first?.id)
        if state == .running || state == .retryable {
            let claim = try #require(try await store.claim(limit: 1, for: "w1").first).claim
            let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
            if state == .retryable {
                try await store.fail(claim, with: failure, retryAt: later)
            }
        }
        #expect(try await store.job(job).state == state)
        fixture.clock.advance(seconds: 100 * StoreFixture.day)
        #expect(try await store.prunable(StoreFixture.tenDays).thumbnails == 0)
        #expect(try await fixture.prune(StoreFixture.tenDays).thumbnails == 0)
        #expect(try await fixture.isThere(id))
        _ = try await store.cancel(job)
        #expect(try await fixture.prune(StoreFixture.tenDays).thumbnails == 1)
    }

    @Test func aThumbnailThatAJobReferencesByBlobIsKeptToo() async throws {
        let id = try await fixture.makeThumbnail()
        let blob = try await store.thumbnail(id).blob
        let job = try #require(
            try await store.enqueue([StoreFixture.request("file:///b.jpg", overlay: .blob(blob))]).first?.id
        )
        fixture.clock.advance(seconds: 100 * StoreFixture.day)
        #expect(try await fixture.prune(StoreFixture.tenDays).thumbnails == 0)
        _ = try await store.cancel(job)
        #expect(try await fixture.prune(StoreFixture.tenDays).thumbnails == 1)
    }

    /// A producer may spell the scheme in any case and write JSON as its library does.
    @Test(arguments: ["cameo://thumb/", #"cameo:\/\/thumb\/"#, "CAMEO://Thumb/"])
    func aProducersJobKeepsItsInputs(prefix: String) async throws {
        let id = try await fixture.makeThumbnail()
        _ = try await fixture.sql(
            #"INSERT INTO job(request) VALUES ('{"source":"\#(prefix)\#(id)","renditions":[{"width":8}]}')"#
        )
        fixture.clock.advance(seconds: 100 * StoreFixture.day)
        #expect(try await fixture.prune(StoreFixture.tenDays).thumbnails == 0)
        #expect(try await fixture.isThere(id))
    }

    @Test func removesInSmallTransactionsBeyondThumbnailsThatAreNeeded() async throws {
        let first = try await fixture.makeThumbnail()
        try await fixture.insertThumbnails(1_250, like: first)
        try await fixture.enqueue()
        try await fixture.sql("INSERT INTO ingredient SELECT id, 2 FROM thumbnail ORDER BY id LIMIT 1000")
        fixture.clock.advance(seconds: 11 * StoreFixture.day)
        var steps: [Int] = []
        #expect(try await store.prunable(StoreFixture.tenDays).thumbnails == 251)
        let pruned = try await fixture.prune(StoreFixture.tenDays) { steps.append($0.thumbnails) }
        #expect(pruned.thumbnails == 251)
        #expect(steps.allSatisfy { $0 <= 100 } && steps.count >= 3, "\(steps)")
        #expect(try await store.status().thumbnails == 1_000)
    }

    /// Both happen between the scan, which found all, and the transaction that would remove the last one.
    @Test(arguments: [false, true])
    func aThumbnailNeededMeanwhileIsKept(asSource: Bool) async throws {
        let first = try await fixture.makeThumbnail()
        fixture.clock.advance(seconds: 1)
        try await fixture.insertThumbnails(99, like: first)
        fixture.clock.advance(seconds: 1)
        let last = try await fixture.makeThumbnail(of: "file:///last.jpg")
        fixture.clock.advance(seconds: 11 * StoreFixture.day)
        let request =
            asSource
            ? StoreFixture.request(CameoURI.thumbnail(last).text)
            : StoreFixture.request("file:///last.jpg") { $0.refresh = .never }
        var outcome: EnqueueReceipt.Outcome?
        let pruned = try await fixture.prune(StoreFixture.tenDays) { step in
            guard step.thumbnails == 100 else { return }
            outcome = try? await store.enqueue([request]).first?.outcome
        }
        #expect(outcome == (asSource ? .accepted : .fresh))
        #expect(pruned.thumbnails == 100)
        #expect(try await fixture.isThere(last))
    }
}

extension StoreFixture {
    fileprivate static func request(_ source: String, overlay: CameoURI) -> ThumbnailRequest {
        request(source) { $0.renditions[0].look.overlay = Rendition.Overlay(source: overlay.text) }
    }
}
