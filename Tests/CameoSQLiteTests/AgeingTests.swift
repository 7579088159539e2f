import CameoModel
import CameoQueue
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// One step of priority is worth a minute of waiting, however a job got its rank.
@Suite(.timeLimit(.minutes(10)))
struct AgeingTests {
    /// The ways in which the jobs of higher priority arrive, one per minute.
    enum Way: CaseIterable {
        case enqueued, joined, snoozed, retriedByHand, failed
    }

    private static let priority = 5

    @Test(arguments: Way.allCases)
    func nothingStarvesBehindASteadyInflowOfHigherPriority(way: Way) async throws {
        let fixture = try StoreFixture()
        let running = way == .failed ? try await claimed(2 * Self.priority, in: fixture) : []
        let old = try await fixture.enqueue()[0].jobID
        var waited = 0
        while waited < 2 * Self.priority {
            try await comeIn(way, waited, running, fixture)
            if try await fixture.store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [old] { break }
            fixture.clock.advance(seconds: 60)
            waited += 1
        }
        // Of equal ranks the smaller id goes first.
        #expect(waited == (way == .failed ? Self.priority + 1 : Self.priority), "minutes")
    }

    private func claimed(_ count: Int, in fixture: StoreFixture) async throws -> [ClaimedJob] {
        try await fixture.enqueue(count) { $0.priority = Self.priority }
        return try await fixture.store.claim(limit: count, for: "w1")
    }

    private func comeIn(_ way: Way, _ minute: Int, _ running: [ClaimedJob], _ fixture: StoreFixture) async throws {
        let (store, now) = (fixture.store, fixture.clock.storeClock.now())
        var request = StoreFixture.request("file:///inflow/\(minute).jpg")
        switch way {
        case .enqueued:
            request.priority = Self.priority
            _ = try await store.enqueue([request])
        case .joined:
            _ = try await store.enqueue([request])
            request.priority = Self.priority
            #expect(try await store.enqueue([request])[0].outcome == .joined)
        case .snoozed:
            request.priority = Self.priority
            request.runAt = now.addingTimeInterval(86_400)
            _ = try await store.snooze(try await store.enqueue([request])[0].jobID, until: now)
        case .retriedByHand:
            request.priority = Self.priority
            let id = try await store.enqueue([request])[0].jobID
            _ = try await store.cancel(id)
            _ = try await store.retry(id)
        case .failed:
            let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
            try await store.fail(running[minute].claim, with: failure, retryAt: now)
        }
    }
}
