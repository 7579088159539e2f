import CameoModel
import CameoQueue
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
        try await store.settle(try await claim(), as: .complete(.kept([], nil)), timings: timings(3))
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

    /// An export reads them page by page, wherever they are.
    @Test(arguments: [1, 2, 3, 100])
    func pagesOfAllAttemptsHaveEachOnceInOrder(limit: Int) async throws {
        let store = fixture.store
        for retries in [0, 2, 0, 0, 3, 1, 0] {
            try await fixture.enqueue()
            for _ in 0..<retries {
                let again = AttemptEnd.retry(Self.failure, at: Date(milliseconds: 0))
                _ = try await store.settle(try await claim(), as: again, timings: timings(1))
            }
            try await store.settle(try await claim(), as: .complete(.kept([], nil)), timings: timings(2))
        }
        // These have only earlier ones, and none.
        try await fixture.enqueue(2)
        let later = AttemptEnd.retry(Self.failure, at: Date(milliseconds: 4_000_000_000_000))
        _ = try await store.settle(try await claim(), as: later, timings: timings(3))
        _ = try await store.cancel(9)
        var (found, last) = ([[StoreValue]](), StoreRecord?.none)
        while true {
            try Task.checkCancellation()
            let before = last
            let page = try await store.read { db in try db.records(of: .attempt, after: before, limit: limit) }
            found += page.map { Array($0.values.prefix(2)) }
            guard page.count == limit else { break }
            last = page.last
        }
        let all = try await fixture.sql("SELECT job_id || '.' || number FROM attempt ORDER BY job_id, number")
        let numbers = found.map { values in
            values.map { if case .integer(let number) = $0 { "\(number)" } else { "?" } }.joined(separator: ".")
        }
        #expect(numbers == all.split(separator: "\n").map(String.init))
        #expect(numbers.count == 14)
    }

    /// Whoever has ended or released a job in the same transaction has taken its claim.
    @Test(arguments: [true, false])
    func aClaimIsLostToWhatCameBeforeInItsTransaction(ends: Bool) async throws {
        try await fixture.enqueue()
        let claim = try await claim()
        let use = ClaimUse(claim: claim)
        try await fixture.store.writes.commit(.begun, using: use) { db in
            let task = try db.task(of: claim)
            if ends {
                try db.end(task, from: .running, End(.cancelled))
            } else {
                _ = try db.giveBack(task, deaths: 0)
            }
            #expect(throws: StoreError.leaseLost(jobID: claim.jobID)) {
                try db.complete(claim, timings: AttemptTimings())
            }
        }
        #expect(try await fixture.store.job(claim.jobID).state == (ends ? .cancelled : .available))
        #expect(try await fixture.wrongCounts() == "")
    }
}
