import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Deduplication: requests for the same thumbnails share one waiting job.
@Suite(.timeLimit(.minutes(10)))
struct UniqueTests {
    private let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")

    @Test(arguments: [JobState.scheduled, .available, .retryable])
    func aRequestJoinsAWaitingJob(state: JobState) async throws {
        let fixture = try await StoreFixture()
        let later = fixture.clock.now.addingTimeInterval(60)
        _ = try await fixture.enqueueDuplicate { if state == .scheduled { $0.runAt = later } }
        if state == .retryable {
            let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
            try await fixture.store.fail(job.claim, with: failure, retryAt: later)
        }
        #expect(try await fixture.store.job(1).state == state)
        let receipt = try await fixture.enqueueDuplicate {
            $0.priority = 7
            $0.batch = "second"
        }
        #expect((receipt.outcome, receipt.id) == (.joined, 1))
        let job = try await fixture.store.job(1)
        #expect(job.priority == 7)
        // A back-off protects the source, so joining does not shorten it.
        #expect(
            (job.state, job.availableAt == later) == (
                state == .retryable ? .retryable : .available, state == .retryable
            )
        )
        #expect(try await fixture.store.batch("second").total == 1)
        #expect(try await fixture.store.jobs(JobFilter()).count == 1)
    }

    @Test(arguments: [JobState.running, .completed, .discarded, .cancelled])
    func aRunningOrEndedJobIsNotJoined(state: JobState) async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.enqueueDuplicate()
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        switch state {
        case .completed:
            try await fixture.store.complete(job.claim, keeping: [], seen: nil)
        case .discarded:
            try await fixture.store.fail(job.claim, with: failure)
        case .cancelled: _ = try await fixture.store.cancel(1)
        default: break
        }
        #expect(try await fixture.store.job(1).state == state)
        let receipt = try await fixture.enqueueDuplicate()
        #expect((receipt.outcome, receipt.id) == (.accepted, 2))
    }

    @Test(arguments: ["priority", "time"])
    func aJoinedJobMovesToItsNewRank(what: String) async throws {
        let fixture = try await StoreFixture()
        let now = fixture.clock.now
        _ = try await fixture.enqueueDuplicate { if what == "time" { $0.runAt = now.addingTimeInterval(600) } }
        fixture.clock.advance(seconds: 60)
        try await fixture.enqueue { $0.priority = 2 }
        _ = try await fixture.enqueueDuplicate { if what == "priority" { $0.priority = 2 } }
        if what == "time" {
            // It comes before a job that arrives three minutes later with that priority.
            fixture.clock.advance(seconds: 180)
            try await fixture.enqueue { $0.priority = 2 }
        }
        let order = try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID)
        #expect(order == (what == "time" ? [2, 1, 3] : [1, 2]))
    }

    @Test func lowerPriorityAndLaterTimeChangeNothing() async throws {
        let fixture = try await StoreFixture()
        let first = try await fixture.enqueueDuplicate { $0.priority = 3 }
        let receipt = try await fixture.enqueueDuplicate {
            $0.priority = -3
            $0.runAt = fixture.clock.now.addingTimeInterval(600)
        }
        #expect((receipt.outcome, receipt.availableAt) == (.joined, first.availableAt))
        #expect(try await fixture.store.job(1).priority == 3)
    }

    @Test(arguments: [
        ("source", false), ("queue", false), ("size", false), ("headers", false), ("key", false),
        ("name", true), ("order", true), ("metadata", true), ("timeout", true), ("data", true),
    ])
    func queueAndThumbnailsDecideWhatIsTheSame(difference: String, joins: Bool) async throws {
        let fixture = try await StoreFixture()
        let pixel = "data:image/png;base64,iVBORw0KGgo="
        let renditions = [Rendition(width: 64), Rendition(width: 128)]
        _ = try await fixture.enqueueDuplicate { request in
            request.renditions = renditions
            if difference == "data" { request.source = pixel }
        }
        let receipt = try await fixture.enqueueDuplicate { request in
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

    @Test func aUniqueKeyJoinsWhateverIsRequested() async throws {
        let fixture = try await StoreFixture()
        let first = try await fixture.enqueueDuplicate { $0.uniqueKey = "avatar-7" }
        let receipt = try await fixture.enqueueDuplicate {
            $0.uniqueKey = "avatar-7"
            $0.source = "file:///pictures/other.jpg"
        }
        #expect(receipt.outcome == .joined)
        #expect(receipt.thumbnails == first.thumbnails, "the thumbnails that will be made")
    }

    @Test func joiningTakesTheMoreThoroughRefresh() async throws {
        let fixture = try await StoreFixture()
        for refresh in [Refresh.ifChanged, .always, .never] {
            _ = try await fixture.enqueueDuplicate { $0.refresh = refresh }
        }
        let job = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
        #expect(try job.parsedRequest().refresh == .always)
        #expect(try ThumbnailRequest(parsing: job.request.utf8).refresh == .ifChanged, "a request is never rewritten")
    }

    /// The statement of a process that did not check first.
    @Test func theIndexAllowsNoSecondWaitingJob() async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.enqueueDuplicate()
        _ = try await fixture.enqueueDuplicate { $0.queue = "other" }
        await #expect(throws: PostgreSQLServer.Failure.self) {
            try await fixture.sql(
                "UPDATE task SET unique_key = (SELECT unique_key FROM task WHERE id = 1) WHERE id = 2"
            )
        }
    }

    /// Too many to lock their keys: the index decides, and the loser joins.
    @Test func twoProcessesThatEnqueueTheSameHundredsShareThem() async throws {
        let fixture = try await StoreFixture()
        let requests = (0..<300).map { StoreFixture.request("file:///\($0)") }
        let (first, second) = (try fixture.anotherStore(), try fixture.anotherStore())
        async let one = first.enqueue(requests)
        async let other = second.enqueue(Array(requests.reversed()))
        let (receipts, others) = (try await one, Array(try await other.reversed()))
        #expect(receipts.map(\.id) == others.map(\.id))
        #expect(zip(receipts, others).allSatisfy { Set([$0.outcome, $1.outcome]) == [.accepted, .joined] })
        #expect(try await fixture.sql("SELECT count(*) FROM job") == "300")
        #expect(try await fixture.wrongCounts() == "")
    }

    @Test func requestsOfOneCallForTheSameThumbnailsShareAJob() async throws {
        let fixture = try await StoreFixture()
        let receipts = try await fixture.store.enqueue([
            StoreFixture.request(), StoreFixture.request("file:///b"), StoreFixture.request { $0.priority = 4 },
        ])
        #expect(receipts.map(\.id) == [1, 2, 1])
        #expect(receipts.map(\.outcome) == [.accepted, .accepted, .joined])
        #expect(try await fixture.store.job(1).priority == 4)
    }
}
