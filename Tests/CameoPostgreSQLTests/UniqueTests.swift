import CameoModel
import CameoStore
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Deduplication: requests for the same thumbnails share one waiting job.
@Suite(.timeLimit(.minutes(10)))
struct UniqueTests {
    /// The statement of a process that did not check first.
    @Test func theIndexAllowsNoSecondWaitingJob() async throws {
        let fixture = try await StoreFixture()
        _ = try await fixture.enqueueDuplicate()
        _ = try await fixture.enqueueDuplicate { $0.queue = "other" }
        await #expect(throws: PostgreSQLServer.Failure.self) {
            try await fixture.sql(
                "UPDATE task SET unique_key = (SELECT unique_key FROM task WHERE id = 1) WHERE id = 2"
            )
        }
    }
}
