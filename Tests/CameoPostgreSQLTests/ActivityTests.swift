import CameoModel
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoPostgreSQL

/// What a status says of recent jobs when there are many.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ActivityTests {
    private let fixture: StoreFixture
    private var store: PostgreSQLStore { fixture.store }

    init() async throws {
        fixture = try await StoreFixture()
    }

    /// Every second, third or fourth change is the end of a job, or eight jobs are claimed together and end together: no
    /// rhythm of the feed misleads the estimate.
    @Test(arguments: ["n % 2 = 1", "n % 3 = 0", "n % 4 = 1", "n / 8 % 2 = 1"])
    func manyChangesAreEstimated(isEnd: String) async throws {
        let now = fixture.clock.now.milliseconds
        try await fixture.sql(
            """
            INSERT INTO change(seq, job_id, state, at)
              SELECT n, n, CASE WHEN \(isEnd) THEN 4 ELSE 2 END, \(now) - 20 * (60000 - n) FROM generate_series(1, 60000) AS n;
            UPDATE feed SET last = 60000
            """
        )
        let (status, exact) = (
            try await fixture.store.status(), isEnd.contains("3") ? 3.0 : isEnd.contains("4") ? 4 : 2
        )
        // 50 changes a second, for 20 minutes.
        for (throughput, changes) in zip(status.throughput.dropFirst(), [15_000.0, 45_000]) {
            let expected = changes / exact
            #expect(abs(Double(throughput.completed) - expected) < expected * 0.1, "\(throughput)")
            #expect(throughput.discarded == 0)
        }
    }

    /// The feed was pruned, and then nothing happened for long.
    @Test func anOldFeedHasNothingRecent() async throws {
        try await fixture.enqueue(3)
        try await store.numberChanges()
        try await fixture.sql("DELETE FROM change WHERE seq < 3")
        fixture.clock.advance(seconds: 3_600)
        #expect(try await fixture.store.status().throughput.map(\.perSecond) == [0, 0, 0])
        try await fixture.sql("DELETE FROM change")
        #expect(try await fixture.store.status().throughput.map(\.perSecond) == [0, 0, 0])
    }

    @Test func failuresOfManyCodesAreTheMostFrequent() async throws {
        try await fixture.register()
        let codes: [JobFailure.Code] = [
            .imageCorrupt, .sourceNotFound, .sourceTimeout, .renderCrashed, .imageTooManyPixels, .sourceForbidden,
        ]
        for (index, code) in codes.enumerated() {
            try await fixture.enqueue(index + 1)
            for job in try await fixture.store.claim(limit: 10, for: "w1") {
                try await fixture.store.fail(job.claim, with: JobFailure(code, at: .fetch, "x"))
            }
        }
        let failures = try await fixture.store.status().failures
        #expect(failures.map(\.count) == [6, 5, 4, 3, 2])
        #expect(failures.map(\.code) == codes.reversed().dropLast())
        #expect(failures.map(\.example.id) == [21, 15, 10, 6, 3], "the newest")
    }

    @Test func aWorkerShowsWhatItHasRunLongest() async throws {
        try await fixture.register()
        for _ in 0..<6 {
            try await fixture.enqueue()
            _ = try await fixture.store.claim(limit: 1, for: "w1")
            fixture.clock.advance(seconds: 1)
        }
        let worker = try #require(try await fixture.store.status().workers.first)
        #expect(worker.running == 6 && worker.current.map(\.id) == [1, 2, 3, 4])
    }
}
