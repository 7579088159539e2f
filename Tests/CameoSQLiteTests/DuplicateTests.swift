import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Of two jobs waiting for the same thumbnails one is superseded, however they came to wait.
@Suite(.timeLimit(.minutes(10)))
struct DuplicateTests {
    private let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")

    private func insert(_ fixture: StoreFixture, _ request: ThumbnailRequest) async throws {
        let text = request.json.canonicalText
        try await fixture.store.commit { db in
            try db.execute("INSERT INTO job(request) VALUES (?)", [text])
        }
    }

    // MARK: - Rows without a key

    @Test func aDuplicateThatSQLInsertedEndsSuperseded() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.enqueueDuplicate()
        try await insert(
            fixture,
            StoreFixture.request {
                $0.priority = 9
                $0.batch = "sql"
            }
        )
        #expect(try await fixture.store.job(2).state == .available, "the INSERT itself never fails")
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])
        let duplicate = try await fixture.store.job(2)
        #expect((duplicate.state, duplicate.supersededBy, duplicate.failure?.code) == (.cancelled, 1, .jobSuperseded))
        #expect(try await fixture.store.job(1).priority == 9)
        let batch = try await fixture.store.batch("sql")
        #expect((batch.total, batch.count(.running)) == (1, 1), "the batch counts the job that does the work")
        #expect(try await fixture.store.check().filter { $0.subject == "counters" }.map(\.severity) == [.ok])
    }

    @Test func aRequestJoinsTheJobThatSQLInserted() async throws {
        let fixture = try StoreFixture()
        try await insert(fixture, StoreFixture.request())
        let receipt = try await fixture.enqueueDuplicate()
        #expect((receipt.outcome, receipt.id) == (.joined, 1))
    }

    @Test func anUploadJoinsTheJobThatSQLInserted() async throws {
        let fixture = try StoreFixture()
        let data = Data("picture".utf8)
        let uri = CameoURI.blob(BlobDigest(of: data)).text
        try await insert(fixture, StoreFixture.request(uri))
        let receipt = try await fixture.store.enqueue(StoreFixture.request(), data: data)
        #expect((receipt.outcome, receipt.id) == (.joined, 1))
    }

    @Test func invalidRowsAreNotDuplicates() async throws {
        let fixture = try StoreFixture()
        for _ in 0..<2 {
            try await fixture.store.commit { db in
                try db.execute(#"INSERT INTO job(request) VALUES ('{"source":"a","renditions":[{"blurr":1}]}')"#)
            }
        }
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        for id in [Int64(1), 2] {
            let job = try await fixture.store.job(id)
            #expect((job.state, job.failure?.code) == (.discarded, .requestInvalid))
        }
    }

    // MARK: - Jobs that wait again

    @Test(arguments: ["retry", "release", "rescue", "retry by hand"])
    func aJobThatMustWaitAgainIsSupersededByItsDuplicate(way: String) async throws {
        let fixture = try StoreFixture()
        let registration = try await fixture.register("w1")
        _ = try await fixture.enqueueDuplicate {
            $0.batch = "b"
            $0.priority = 5
            $0.refresh = .always
        }
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        let later = fixture.clock.storeClock.now().addingTimeInterval(3_600)
        _ = try await fixture.enqueueDuplicate { $0.runAt = later }
        let soon = fixture.clock.storeClock.now().addingTimeInterval(4)
        switch way {
        case "retry":
            let end = try await fixture.store.fail(job.claim, with: failure, retryAt: soon)
            #expect(end?.supersededBy == 2)
        case "release": #expect(try await fixture.store.release(job.claim)?.supersededBy == 2)
        case "rescue":
            fixture.clock.advance(seconds: 31)
            let report = try await fixture.store.rescueExpired(except: "me")
            #expect(report.rescued == 0)
        default:
            try await fixture.store.fail(job.claim, with: failure, retryAt: nil)
            #expect(try await fixture.store.retry(1).supersededBy == 2)
        }
        let first = try await fixture.store.job(1)
        #expect((first.state, first.supersededBy, first.failure?.code) == (.cancelled, 2, .jobSuperseded))
        let second = try await fixture.store.job(2)
        #expect((second.priority, try await fixture.store.batch("b").total) == (5, 1))
        #expect(try await fixture.sql("SELECT refresh FROM task WHERE id = 2") == "\(Refresh.always.code)")
        // Only a failed job waits for its back-off; the others want to run at once.
        #expect((second.state == .scheduled) == (way == "retry"))
        #expect((second.availableAt == later) == (way == "retry"))
        try await fixture.store.deregister(registration)
    }

    @Test func aJobCancelledWhileWaitingNoLongerDeduplicates() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.enqueueDuplicate()
        _ = try await fixture.store.cancel(1)
        #expect(try await fixture.enqueueDuplicate().id == 2)
        #expect(try await fixture.store.retry(1).supersededBy == 2)
    }

    /// An upload's key is known only after a worker has read its bytes.
    @Test(arguments: ["absorbed", "fetched"])
    func anUploadThatMustWaitAgainIsSupersededByItsDuplicate(when: String) async throws {
        let (fixture, request) = (try StoreFixture(), #"{"renditions":[{"width":64,"height":64}]}"#)
        _ = try await fixture.sql("INSERT INTO upload(data, request) VALUES (CAST('picture' AS BLOB), '\(request)')")
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        let absorbed = try await fixture.store.absorbUpload(job)
        if when == "fetched" { _ = try await fixture.store.beginFetch(job.claim, of: absorbed) }
        let duplicate = try await fixture.store.enqueue(StoreFixture.request(), data: Data("picture".utf8))
        #expect((duplicate.outcome, duplicate.id) == (.accepted, 2), "a running job is not joined")
        try await fixture.store.release(job.claim)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [2])
        #expect(try await fixture.store.job(1).supersededBy == 2)
    }

    @Test func twoDuplicatesOfOneDeadWorkerBecomeOne() async throws {
        let fixture = try StoreFixture()
        let registration = try await fixture.register("w1")
        for _ in 0..<2 {
            _ = try await fixture.enqueueDuplicate()
            _ = try await fixture.store.claim(limit: 1, for: "w1")
        }
        fixture.clock.advance(seconds: 31)
        let report = try await fixture.store.rescueExpired(except: "me")
        #expect(report.rescued == 1)
        #expect(try await fixture.store.job(2).supersededBy == 1)
        try await fixture.store.deregister(registration)
    }
}
