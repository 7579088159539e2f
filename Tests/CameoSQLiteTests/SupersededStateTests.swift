import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoSQLite

/// Waiting for a superseded job means waiting for the one that superseded it.
@Suite(.timeLimit(.minutes(10)))
struct SupersededStateTests {
    @Test func aSupersededJobBecomesWhatItsDuplicateBecomes() async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        let request = StoreFixture.request()
        let first = try #require(try await fixture.store.enqueue([request])[0].id)
        let claimed = try await fixture.store.claim(limit: 1, for: "w1")
        let second = try #require(try await fixture.store.enqueue([request])[0].id)
        let failure = JobFailure(.sourceTimeout, at: .fetch, "too slow", isRetryable: true)
        let end = try await fixture.store.fail(
            claimed[0].claim,
            with: failure,
            retryAt: Date.distantFuture
        )
        #expect(end?.supersededBy == second)
        #expect(try await fixture.store.job(first).state == .cancelled)
        #expect(try await fixture.store.jobInPlace(of: first) == fixture.store.job(second))
        #expect(try await fixture.store.jobInPlace(of: second).id == second)
        await #expect(throws: StoreError.noSuchJob(99)) { try await fixture.store.jobInPlace(of: 99) }
        #expect(try await fixture.store.states(of: [first, second, 99]) == [first: .available, second: .available])

        let duplicate = try await fixture.store.claim(limit: 1, for: "w1")
        try await fixture.store.complete(
            duplicate[0].claim,
            storing: try StoreFixture.rendered(duplicate[0]),
            from: StoreFixture.provenance(),
            timings: AttemptTimings()
        )
        #expect(try await fixture.store.states(of: [first]) == [first: .completed])

        // Retention may remove the duplicate first.
        try await fixture.store.commit { db in
            try db.execute("DELETE FROM job WHERE id = ?", [second])
        }
        #expect(try await fixture.store.states(of: [first]).isEmpty)
        #expect(try await fixture.store.jobInPlace(of: first).id == first)

        #expect(try await fixture.store.retry(first).supersededBy == nil)
        #expect(try await fixture.store.states(of: [first]) == [first: .available], "and it is no longer a duplicate")
    }
}
