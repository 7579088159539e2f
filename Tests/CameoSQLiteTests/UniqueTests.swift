import CameoModel
import CameoQueue
import CameoStore
import StoreConformance
import Testing

@testable import CameoSQLite

/// Deduplication: requests for the same thumbnails share one waiting job.
@Suite(.timeLimit(.minutes(10)))
struct UniqueTests {
    /// The statement of a process that did not check first.
    @Test func theIndexAllowsNoSecondWaitingJob() async throws {
        let fixture = try StoreFixture()
        _ = try await fixture.enqueueDuplicate()
        _ = try await fixture.enqueueDuplicate { $0.queue = "other" }
        await #expect(throws: StoreError.self) {
            try await fixture.store.commit { db in
                try db.execute(
                    "UPDATE task SET unique_key = (SELECT unique_key FROM task WHERE id = 1) WHERE id = 2"
                )
            }
        }
    }
}
