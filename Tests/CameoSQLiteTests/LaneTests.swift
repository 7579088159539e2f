import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Thousands of queues and keys, among which a claim must find the open ones.
@Suite(.timeLimit(.minutes(10)))
struct LaneTests {
    @Test(.enabled(if: TestLength.isWhole, "--all")) func twoThousandFullOrPausedQueuesNeverBlockOthers() async throws {
        let fixture = try StoreFixture()
        func enqueue(_ name: String) async throws {
            _ = try await fixture.store.enqueue(
                (0..<2_000).map { index in StoreFixture.request("file:///\(name)/\(index)") { $0.queue = "q\(index)" } }
            )
        }
        try await enqueue("first")
        _ = try await fixture.sql("UPDATE queue SET paused = id % 2, max_running = 1")
        let first = try await fixture.store.claim(limit: 3_000, for: "w1")
        try #require(first.count == 1_000, "one of each queue that is not paused")
        try await enqueue("second")
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        try await fixture.enqueue { $0.queue = "last" }
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.queue) == ["last"])
        try await fixture.store.release(first[700].claim)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [first[700].claim.jobID])
        _ = try await fixture.store.resume("q0")
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.queue) == ["q0"])
        #expect(try await fixture.store.check().filter { $0.subject == "limits" }.map(\.severity) == [.ok])
    }

    @Test(.enabled(if: TestLength.isWhole, "--all")) func aKeyWithALimitOfTenThousandIsFilledCompletely() async throws {
        let fixture = try StoreFixture()
        try await fixture.store.limit(key: "k", to: 10_000)
        try await fixture.enqueue(10_020) { $0.concurrencyKey = "k" }
        let jobs = try await fixture.store.claim(limit: 20_000, for: "w1")
        #expect(jobs.map(\.claim.jobID) == Array(1...10_000))
        try await fixture.enqueue(2)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [10_021, 10_022])
        for job in jobs.prefix(3) {
            try await fixture.store.complete(job.claim, keeping: [], seen: nil, timings: AttemptTimings())
        }
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [10_001, 10_002, 10_003])
        #expect(try await fixture.store.check().filter { $0.subject == "limits" }.map(\.severity) == [.ok])
    }

    /// A thousand keys, each with a limit of one.
    @Test func eachOfAThousandKeysYieldsItsFirstJob() async throws {
        let fixture = try StoreFixture()
        let requests = (0..<3_000).map { index in
            StoreFixture.request("file:///\(index)") { $0.concurrencyKey = "k\(index % 1_000)" }
        }
        _ = try await fixture.store.enqueue(requests)
        let jobs = try await fixture.store.claim(limit: 3_000, for: "w1")
        try #require(jobs.map(\.claim.jobID) == Array(1...1_000))
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        try await fixture.store.release(jobs[40].claim)
        try await fixture.store.complete(jobs[50].claim, keeping: [], seen: nil, timings: AttemptTimings())
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [41, 1_051])
    }

    /// Cancelling the first job leaves a head that is too low.
    @Test func aHeadThatIsTooLowIsCorrectedByTheNextClaim() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue { $0.priority = 50 }
        try await fixture.enqueue(2) { $0.queue = "other" }
        try await fixture.enqueue()
        _ = try await fixture.store.cancel(1)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [2, 3, 4])
        #expect(try await fixture.sql("SELECT count(*) FROM queue WHERE head IS NOT NULL") == "0")
    }

    @Test func aJobOfAFullKeyThatIsCancelledOrSnoozedLeavesItsLane() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(3) { $0.concurrencyKey = "k" }
        let first = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
        _ = try await fixture.store.cancel(2)
        let later = fixture.clock.storeClock.now().addingTimeInterval(60)
        _ = try await fixture.store.snooze(3, until: later)
        try await fixture.store.complete(first.claim, keeping: [], seen: nil, timings: AttemptTimings())
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        fixture.clock.advance(seconds: 60)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [3])
    }
}
