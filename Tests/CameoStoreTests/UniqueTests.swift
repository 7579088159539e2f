import CameoModel
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CameoStore

/// Requests for the same thumbnails are one job while it waits.
@Suite(.timeLimit(.minutes(1)))
struct UniqueTests {
    private func enqueue(
        _ fixture: StoreFixture,
        _ change: (inout ThumbnailRequest) -> Void = { _ in }
    ) async throws -> EnqueueReceipt {
        try await fixture.store.enqueue([StoreFixture.request(change: change)])[0]
    }

    private func insert(_ fixture: StoreFixture, _ request: ThumbnailRequest) async throws {
        let text = request.json.canonicalText
        try await fixture.store.commit { db in
            try db.execute(sql: "INSERT INTO job(request) VALUES (?)", arguments: [text])
        }
    }

    private let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")

    @Test(arguments: [JobState.scheduled, .available, .retryable])
    func aRequestJoinsTheJobThatWaits(state: JobState) async throws {
        let fixture = try StoreFixture()
        let later = fixture.clock.storeClock.now().addingTimeInterval(60)
        _ = try await enqueue(fixture) { if state == .scheduled { $0.runAt = later } }
        if state == .retryable {
            let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            try await fixture.store.fail(job.claim, with: failure, retryAt: later, timings: AttemptTimings())
        }
        #expect(try await fixture.store.job(1).state == state)
        let receipt = try await enqueue(fixture) {
            $0.priority = 7
            $0.batch = "second"
        }
        #expect((receipt.outcome, receipt.id) == (.joined, 1))
        let job = try await fixture.store.job(1)
        #expect(job.priority == 7)
        // A back-off is the source's to choose.
        #expect(
            (job.state, job.availableAt == later) == (
                state == .retryable ? .retryable : .available, state == .retryable
            )
        )
        #expect(try await fixture.store.batch("second").total == 1)
        #expect(try await fixture.store.jobs(JobFilter()).count == 1)
    }

    @Test(arguments: [JobState.running, .completed, .discarded, .cancelled])
    func noOtherJobIsJoined(state: JobState) async throws {
        let fixture = try StoreFixture()
        _ = try await enqueue(fixture)
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        switch state {
        case .completed:
            try await fixture.store.complete(job.claim, keeping: [], seen: nil, timings: AttemptTimings())
        case .discarded:
            try await fixture.store.fail(job.claim, with: failure, retryAt: nil, timings: AttemptTimings())
        case .cancelled: _ = try await fixture.store.cancel(1)
        default: break
        }
        #expect(try await fixture.store.job(1).state == state)
        let receipt = try await enqueue(fixture)
        #expect((receipt.outcome, receipt.id) == (.accepted, 2))
    }

    @Test func lowerPriorityAndLaterTimeChangeNothing() async throws {
        let fixture = try StoreFixture()
        let first = try await enqueue(fixture) { $0.priority = 3 }
        let receipt = try await enqueue(fixture) {
            $0.priority = -3
            $0.runAt = fixture.clock.storeClock.now().addingTimeInterval(600)
        }
        #expect((receipt.outcome, receipt.availableAt) == (.joined, first.availableAt))
        #expect(try await fixture.store.job(1).priority == 3)
    }

    @Test(arguments: [
        ("source", false), ("queue", false), ("size", false), ("headers", false), ("key", false),
        ("name", true), ("order", true), ("metadata", true), ("timeout", true), ("data", true),
    ])
    func theSameMeansQueueAndThumbnails(difference: String, joins: Bool) async throws {
        let fixture = try StoreFixture()
        let pixel = "data:image/png;base64,iVBORw0KGgo="
        let renditions = [Rendition(width: 64), Rendition(width: 128)]
        _ = try await enqueue(fixture) { request in
            request.renditions = renditions
            if difference == "data" { request.source = pixel }
        }
        let receipt = try await enqueue(fixture) { request in
            request.renditions = renditions
            switch difference {
            case "source": request.source = "file:///pictures/b.jpg"
            case "queue": request.queue = "other"
            case "size": request.renditions[1].width = 129
            case "headers": request.headers = ["Cookie": "tenant=2"]
            case "key": request.uniqueKey = "mine"
            case "name": request.renditions[0].name = "small"
            case "order": request.renditions.reverse()
            case "metadata": request.metadata = ["a": .integer(1)]
            case "timeout": request.timeout = 5
            default: request.source = pixel.replacing("image/png", with: "application/octet-stream")
            }
        }
        #expect((receipt.outcome == .joined) == joins)
        #expect(receipt.thumbnails.map(\.name).count == 2)
    }

    @Test func anExplicitKeyJoinsWhateverIsAskedFor() async throws {
        let fixture = try StoreFixture()
        let first = try await enqueue(fixture) { $0.uniqueKey = "avatar-7" }
        let receipt = try await enqueue(fixture) {
            $0.uniqueKey = "avatar-7"
            $0.source = "file:///pictures/other.jpg"
        }
        #expect(receipt.outcome == .joined)
        #expect(receipt.thumbnails == first.thumbnails, "those that will be made")
    }

    @Test func joiningTakesTheMoreThoroughRefresh() async throws {
        let fixture = try StoreFixture()
        for refresh in [Refresh.ifChanged, .always, .never] { _ = try await enqueue(fixture) { $0.refresh = refresh } }
        let job = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
        #expect(try ThumbnailRequest(parsing: job.request.utf8).refresh == .always)
    }

    /// The statement of a process that forgot to look.
    @Test func theIndexLetsNoSecondJobStand() async throws {
        let fixture = try StoreFixture()
        _ = try await enqueue(fixture)
        _ = try await enqueue(fixture) { $0.queue = "other" }
        await #expect(throws: StoreError.self) {
            try await fixture.store.commit { db in
                try db.execute(
                    sql: "UPDATE job SET unique_key = (SELECT unique_key FROM job WHERE id = 1) WHERE id = 2"
                )
            }
        }
    }

    // MARK: - Rows without a key

    @Test func aTwinThatSQLInsertedEndsSuperseded() async throws {
        let fixture = try StoreFixture()
        _ = try await enqueue(fixture)
        try await insert(
            fixture,
            StoreFixture.request {
                $0.priority = 9
                $0.batch = "sql"
            }
        )
        #expect(try await fixture.store.job(2).state == .available, "the INSERT itself never fails")
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])
        let twin = try await fixture.store.job(2)
        #expect((twin.state, twin.supersededBy, twin.failure?.code) == (.cancelled, 1, .jobSuperseded))
        #expect(try await fixture.store.job(1).priority == 9)
        let batch = try await fixture.store.batch("sql")
        #expect((batch.total, batch.count(.running)) == (1, 1), "its batch counts the job that does the work")
        #expect(try await fixture.store.check().filter { $0.subject == "uniqueness" }.map(\.severity) == [.ok])
    }

    @Test func aRequestJoinsTheJobThatSQLInserted() async throws {
        let fixture = try StoreFixture()
        try await insert(fixture, StoreFixture.request())
        let receipt = try await enqueue(fixture)
        #expect((receipt.outcome, receipt.id) == (.joined, 1))
    }

    @Test func invalidRowsAreNobodysTwins() async throws {
        let fixture = try StoreFixture()
        for _ in 0..<2 {
            try await fixture.store.commit { db in
                try db.execute(sql: #"INSERT INTO job(request) VALUES ('{"source":"a","renditions":[{"blurr":1}]}')"#)
            }
        }
        #expect(try await fixture.store.claim(limit: 9, for: "w1").count == 2)
    }

    // MARK: - Jobs that wait again

    @Test(arguments: ["retry", "release", "rescue", "retry by hand"])
    func aJobThatIsToWaitAgainYieldsToItsTwin(way: String) async throws {
        let fixture = try StoreFixture()
        let registration = try await fixture.register("w1")
        _ = try await enqueue(fixture) {
            $0.batch = "b"
            $0.priority = 5
        }
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        _ = try await enqueue(fixture) { $0.runAt = fixture.clock.storeClock.now().addingTimeInterval(3_600) }
        let soon = fixture.clock.storeClock.now().addingTimeInterval(4)
        switch way {
        case "retry":
            let end = try await fixture.store.fail(job.claim, with: failure, retryAt: soon, timings: AttemptTimings())
            #expect(end == .superseded(by: 2))
        case "release": #expect(try await fixture.store.release(job.claim) == .superseded(by: 2))
        case "rescue":
            fixture.clock.advance(seconds: 31)
            let report = try await fixture.store.rescueExpired(except: "me")
            #expect((report.rescued, report.superseded) == (0, 1))
        default:
            try await fixture.store.fail(job.claim, with: failure, retryAt: nil, timings: AttemptTimings())
            #expect(try await fixture.store.retry(1).settlement == .superseded(by: 2))
        }
        let first = try await fixture.store.job(1)
        #expect((first.state, first.supersededBy, first.failure?.code) == (.cancelled, 2, .jobSuperseded))
        let second = try await fixture.store.job(2)
        #expect((second.priority, try await fixture.store.batch("b").total) == (5, 1))
        // Only what failed waits for a back-off; the rest wanted to run at once.
        #expect((second.state == .scheduled) == (way == "retry"))
        try await fixture.store.deregister(registration)
    }

    @Test func twoTwinsOfOneDeadWorkerBecomeOne() async throws {
        let fixture = try StoreFixture()
        let registration = try await fixture.register("w1")
        for _ in 0..<2 {
            _ = try await enqueue(fixture)
            _ = try await fixture.store.claim(limit: 1, for: "w1")
        }
        fixture.clock.advance(seconds: 31)
        let report = try await fixture.store.rescueExpired(except: "me")
        #expect((report.rescued, report.superseded) == (1, 1))
        #expect(try await fixture.store.job(2).supersededBy == 1)
        try await fixture.store.deregister(registration)
    }

    /// A worker of an older version knows nothing of keys: what it puts back stands for nothing until a newer process looks.
    @Test func whatAnOlderWorkerPutsBackIsNamedByTheNextClaim() async throws {
        let fixture = try StoreFixture()
        _ = try await enqueue(fixture)
        _ = try await fixture.store.claim(limit: 1, for: "w1")
        _ = try await enqueue(fixture)
        try await fixture.store.commit { db in
            try db.execute(
                sql: "UPDATE job SET state = 'available', attempt = 0, claim_token = NULL, worker = NULL WHERE id = 1"
            )
        }
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [2])
        #expect(try await fixture.store.job(1).supersededBy == 2)
    }

    // MARK: - Made and fresh

    private func make(_ fixture: StoreFixture, _ source: String) async throws {
        _ = try await enqueue(fixture) { $0.source = source }
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
    func whatIsMadeAndFreshNeedsNoJob(source: String, refresh: Refresh, outcome: EnqueueReceipt.Outcome) async throws {
        let fixture = try StoreFixture()
        try await make(fixture, source)
        let receipt = try await enqueue(fixture) {
            $0.source = source
            $0.refresh = refresh
        }
        #expect(receipt.outcome == outcome)
        #expect((receipt.id == nil) == (outcome == .fresh))
        #expect((receipt.thumbnails[0].blob != nil) == (outcome == .fresh))
    }

    @Test func aRequestForLaterOrForMoreNeedsAJob() async throws {
        let fixture = try StoreFixture()
        try await make(fixture, "data:,picture")
        let later = try await enqueue(fixture) {
            $0.source = "data:,picture"
            $0.runAt = fixture.clock.storeClock.now().addingTimeInterval(5)
        }
        #expect(later.outcome == .accepted)
        let more = try await enqueue(fixture) {
            $0.source = "data:,picture"
            $0.renditions.append(Rendition(width: 17))
        }
        #expect(more.outcome == .accepted)
    }

    /// By the cached answer, of which only the store's own words count: no server is asked.
    @Test(arguments: [
        ("fresh", EnqueueReceipt.Outcome.fresh), ("pinned", .fresh), ("stale", .accepted), ("other bytes", .accepted),
        ("varies", .accepted), ("other scope", .accepted),
    ])
    func aCachedAnswerThatIsFreshAnswers(state: String, outcome: EnqueueReceipt.Outcome) async throws {
        let fixture = try StoreFixture()
        let uri = "https://pictures.example/a.jpg"
        try await make(fixture, uri)
        let bytes = Data((state == "other bytes" ? "another" : "picture").utf8)
        let now = fixture.clock.storeClock.now()
        let scope = state == "other scope" ? RequestScope(headers: ["Cookie": "a"]) : nil
        let source = CachedSource(
            key: SourceKey(uri: uri, scope: scope),
            variant: state == "varies" ? "accept" : "",
            finalURL: uri,
            status: 200,
            fields: [],
            hops: [],
            mediaType: nil,
            textEncoding: nil,
            requestTime: now,
            responseTime: now,
            freshUntil: now.addingTimeInterval(state == "stale" || state == "pinned" ? 0 : 60),
            blob: SHA256.digest(of: bytes),
            bytes: bytes.count,
            sourceSeen: 9,
            isPinned: state == "pinned"
        )
        try await fixture.store.keep(source, data: bytes, budget: nil)
        #expect(try await enqueue(fixture) { $0.source = uri }.outcome == outcome)
    }
}
