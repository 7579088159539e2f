import CameoModel
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoPostgreSQL

/// Rate limits of queues and keys.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct RateTests {
    enum Subject: CaseIterable {
        case queue, key
    }

    private func fixture(_ subject: Subject, jobs: Int = 40) async throws -> StoreFixture {
        let fixture = try await StoreFixture()
        try await fixture.store.limit(key: "k", to: 1_000)
        try await fixture.enqueue(jobs) { $0.concurrencyKey = "k" }
        switch subject {
        case .queue: try await fixture.store.limit(queue: "default", toRate: StartRate("10/s"))
        case .key: try await fixture.store.limit(key: "k", toRate: StartRate("10/s"))
        }
        return fixture
    }

    private func claim(_ store: PostgreSQLStore) async throws -> Int {
        try await store.claim(limit: 99, for: "w1").count
    }

    @Test(arguments: Subject.allCases)
    func tenStartAtOnceThenOneEveryTenthOfASecondAcrossProcesses(subject: Subject) async throws {
        let fixture = try await fixture(subject)
        let other = try fixture.anotherStore()
        #expect(try await claim(fixture.store) == 10)
        #expect(try await claim(other) == 0)
        let now = fixture.clock.now
        let next = try await fixture.store.sweep(for: "w1").due?.milliseconds
        #expect(next == now.milliseconds + 100, "the time a worker waits for")
        fixture.clock.advance(seconds: 0.05)
        #expect(try await claim(fixture.store) == 0)
        fixture.clock.advance(seconds: 0.06)
        #expect(try await claim(other) == 1)
        #expect(try await claim(fixture.store) == 0)
        fixture.clock.advance(seconds: 0.31)
        #expect(try await claim(fixture.store) == 3)
        // Unused starts do not accumulate for an hour.
        fixture.clock.advance(seconds: 3_600)
        #expect(try await claim(other) == 10)
        #expect(try await claim(fixture.store) == 0)
    }

    /// The death of a worker does not return its starts.
    @Test(arguments: Subject.allCases)
    func aReleasedJobHasUsedItsStart(subject: Subject) async throws {
        let fixture = try await fixture(subject)
        for job in try await fixture.store.claim(limit: 99, for: "w1") { try await fixture.store.release(job.claim) }
        #expect(try await claim(fixture.store) == 0)
        fixture.clock.advance(seconds: 0.1)
        #expect(try await claim(fixture.store) == 1)
    }

    @Test(arguments: Subject.allCases, [3_600.0, 1.05, 0.95, 0.5])
    func aClockSetBackNeitherOpensNorClosesForLong(subject: Subject, seconds: Double) async throws {
        let fixture = try await fixture(subject)
        #expect(try await claim(fixture.store) == 10)
        fixture.clock.advance(seconds: -seconds)
        #expect(try await claim(fixture.store) == 0)
        #expect(try await claim(fixture.anotherStore()) == 0)
        // One period and one start later, everything is back to normal.
        fixture.clock.advance(seconds: 1.1)
        let started = try await claim(fixture.store)
        #expect((1...10).contains(started), "\(started)")
        fixture.clock.advance(seconds: 1.2)
        #expect(try await claim(fixture.store) == 10)
    }

    @Test func anExhaustedRateDoesNotBlockOtherQueuesOrKeys() async throws {
        let fixture = try await fixture(.queue)
        #expect(try await claim(fixture.store) == 10)
        try await fixture.enqueue { $0.queue = "other" }
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.queue) == ["other"])
        let byKey = try await self.fixture(.key)
        #expect(try await claim(byKey.store) == 10)
        try await byKey.enqueue(3)
        #expect(try await claim(byKey.store) == 3)
    }

    @Test(arguments: Subject.allCases)
    func removingARateLetsAllStart(subject: Subject) async throws {
        let fixture = try await fixture(subject)
        #expect(try await claim(fixture.store) == 10)
        switch subject {
        case .queue: try await fixture.store.limit(queue: "default", toRate: nil)
        case .key: try await fixture.store.limit(key: "k", toRate: nil)
        }
        #expect(try await claim(fixture.store) == 30)
    }

    @Test func ratesAreInTheReports() async throws {
        let fixture = try await StoreFixture()
        try await fixture.store.limit(queue: "imports", toRate: StartRate("300/m"), unknown: .created)
        try await fixture.store.limit(key: "k", toRate: StartRate("5/30s"))
        #expect(try await fixture.store.queues().map(\.rate) == ["300/m"])
        #expect(try await fixture.store.concurrencyLimits().map(\.rate) == ["5/30s"])
    }

    /// A poison job counts like any other job.
    @Test func aPoisonJobTakesAStart() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(2)
        try await fixture.store.limit(queue: "default", toRate: StartRate("1/s"))
        _ = try await fixture.sql("UPDATE task SET crash_count = 3, attempted_at = 1")
        #expect(try await fixture.store.claim(limit: 9, kind: .poison, for: "w1").count == 1)
        #expect(try await fixture.store.claim(limit: 9, kind: .poison, for: "w1").isEmpty)
        fixture.clock.advance(seconds: 1)
        #expect(try await fixture.store.claim(limit: 9, kind: .poison, for: "w1").count == 1)
    }
}
