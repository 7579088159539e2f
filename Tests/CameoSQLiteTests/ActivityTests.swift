import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// What a status says of recent jobs when there are many.
@Suite(.timeLimit(.minutes(10)))
struct ActivityTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    /// Every second, third or fourth change is the end of a job, or eight jobs are claimed together and end together: no
    /// rhythm of the feed misleads the estimate.
    @Test(arguments: ["n % 2", "n % 3 = 0", "n % 4 = 1", "n / 8 % 2"])
    func manyChangesAreEstimated(isEnd: String) async throws {
        let now = fixture.clock.storeClock.now().milliseconds
        let feed = """
            WITH RECURSIVE feed(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM feed WHERE n < 60000)
            INSERT INTO change(job_id, state, at) SELECT n, iif(\(isEnd), 4, 2), \(now) - 20 * (60000 - n) FROM feed
            """
        try fixture.stranger().run(feed)
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
        try fixture.stranger().run("DELETE FROM change WHERE seq < 3")
        fixture.clock.advance(seconds: 3_600)
        #expect(try await fixture.store.status().throughput.map(\.perSecond) == [0, 0, 0])
        try fixture.stranger().run("DELETE FROM change")
        #expect(try await fixture.store.status().throughput.map(\.perSecond) == [0, 0, 0])
    }
}
