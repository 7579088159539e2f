import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// The attempt that ends a job is in the row of its outcome; all others have rows of their own.
@Suite(.timeLimit(.minutes(10)))
struct AttemptTests {
    private static let failure = JobFailure(.imageCorrupt, at: .render, "broken")
    private let fixture: StoreFixture

    init() async throws { fixture = try await StoreFixture() }

    private func timings(_ milliseconds: Int) -> AttemptTimings {
        var timings = AttemptTimings()
        timings.fetchMilliseconds = milliseconds
        return timings
    }

    private func claim() async throws -> Claim {
        try #require(try await fixture.store.claim(limit: 1, for: "w1").first).claim
    }

    @Test func eachAttemptIsListedOnceAlsoThatOfAnEndThatWasTakenBack() async throws {
        let store = fixture.store
        let id = try #require(try await fixture.enqueue()[0].id)
        let retry = AttemptEnd.retry(Self.failure, at: Date(milliseconds: 0))
        _ = try await store.settle(try await claim(), as: retry, timings: timings(1))
        _ = try await store.settle(try await claim(), as: .discard(Self.failure), timings: timings(2))
        #expect(try await fixture.sql("SELECT number FROM earlier_attempt") == "1")
        #expect(try await fixture.sql("SELECT number FROM outcome") == "2")
        _ = try await store.retry(id)
        #expect(try await fixture.sql("SELECT count(*) FROM earlier_attempt") == "2")
        try await store.complete(try await claim(), with: .kept([], nil), timings: timings(3))
        #expect(try await fixture.sql("SELECT count(*) FROM earlier_attempt") == "2")
        let attempts = try #require(try await store.job(id).attempts)
        #expect(attempts.map(\.number) == [1, 2, 3])
        #expect(attempts.map(\.outcome) == [.retryable, .discarded, .completed])
        #expect(attempts.map(\.fetchMilliseconds) == [1, 2, 3])
        #expect(attempts.map(\.failure?.code) == [.imageCorrupt, .imageCorrupt, nil])
        #expect(attempts.allSatisfy { $0.worker == "w1" && $0.finishedAt != nil })
    }

    @Test func aJobThatIsCancelledWhileItWaitsHasNoAttemptOfItsEnd() async throws {
        let id = try #require(try await fixture.enqueue()[0].id)
        let retry = AttemptEnd.retry(Self.failure, at: Date(milliseconds: 4_000_000_000_000))
        _ = try await fixture.store.settle(try await claim(), as: retry, timings: timings(1))
        _ = try await fixture.store.cancel(id)
        #expect(try await fixture.sql("SELECT count(*) FROM outcome WHERE number IS NOT NULL") == "0")
        #expect(try await fixture.store.job(id).attempts?.map(\.outcome) == [.retryable])
    }

    @Test func aRunningJobThatIsCancelledHasTheAttemptInItsOutcome() async throws {
        let id = try #require(try await fixture.enqueue()[0].id)
        _ = try await claim()
        _ = try await fixture.store.cancel(id)
        #expect(try await fixture.sql("SELECT count(*) FROM earlier_attempt") == "0")
        #expect(try await fixture.store.job(id).attempts?.map(\.outcome) == [.cancelled])
    }
}
