import CameoModel
import CameoQueue
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
    @Test(arguments: ["n % 2 = 1", "n % 3 = 0", "n % 4 = 1", "n / 8 % 2 = 1"], [1, 48])
    func manyChangesAreEstimated(isEnd: String, inATransaction: Int) async throws {
        let now = fixture.clock.now.milliseconds
        try await fixture.sql(
            """
            INSERT INTO change(last, jobs, states, at)
              SELECT max(n), array_agg(n ORDER BY n), array_agg(CASE WHEN \(isEnd) THEN 4 ELSE 2 END ORDER BY n),
                \(now) - 20 * (60000 - max(n))
              FROM generate_series(1, 60000) AS n GROUP BY (n - 1) / \(inATransaction);
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
        for _ in 0..<3 { try await fixture.enqueue() }
        try await store.numberChanges()
        try await fixture.sql("DELETE FROM change WHERE last < 3")
        fixture.clock.advance(seconds: 3_600)
        #expect(try await fixture.store.status().throughput.map(\.perSecond) == [0, 0, 0])
        try await fixture.sql("DELETE FROM change")
        #expect(try await fixture.store.status().throughput.map(\.perSecond) == [0, 0, 0])
    }
}
