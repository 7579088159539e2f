import CameoModel
import CameoQueue
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Changes of many jobs at once.
@Suite(.timeLimit(.minutes(10)))
struct BulkTests {
    /// Discards this many jobs, each with a failure code.
    private func discard(
        _ count: Int,
        _ code: JobFailure.Code,
        in fixture: StoreFixture
    ) async throws {
        try await fixture.enqueue(count)
        let jobs = try await fixture.store.claim(limit: count, for: "w1")
        try await fixture.store.discard(jobs, JobFailure(code, at: .fetch, "no"))
    }

    private func filter(_ change: (inout JobFilter) -> Void) -> JobFilter {
        var filter = JobFilter()
        filter.states = [.discarded]
        filter.limit = .max
        change(&filter)
        return filter
    }

    /// A job changes between the read of a page and the transaction that changes it.
    @Test(arguments: [
        "UPDATE outcome SET state = 6 WHERE id = 2", "DELETE FROM job WHERE id = 2",
        """
        INSERT INTO task(id, queue, lane, state, priority, due, rank, max_attempts)
          SELECT id, queue, (SELECT id FROM lane), 1, priority, available_at, 0, max_attempts FROM outcome WHERE id = 2;
        DELETE FROM outcome WHERE id = 2;
        """,
    ])
    func jobsThatLeftTheirStateMeanwhileAreSkipped(interruption: String) async throws {
        let fixture = try StoreFixture()
        try await discard(3, .sourceTimeout, in: fixture)
        let store = try fixture.store(interruptedBy: interruption, before: 5)
        let progress = try await store.change(filter { _ in }, by: .retry)
        #expect((progress.changed, progress.passed) == (2, 1))
        #expect(try await store.states(of: [1, 3]) == [1: .available, 3: .available])
        if interruption.contains("state = 6") { #expect(try await store.job(2).state == .cancelled) }
    }

    /// Otherwise a change that creates new matches would never end.
    @Test func jobsAddedMeanwhileAreLeftAlone() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(2)
        let stranger = try fixture.stranger()
        let request = StoreFixture.request().json.canonicalText
        let progress = try await fixture.store.change(filter { $0.states = [.available] }, by: .cancel) { _ in
            try stranger.run("INSERT INTO job(request) VALUES (?)", [request])
        }
        #expect(progress.changed == 2)
        #expect(try await fixture.store.status().count(.available) == 1)
    }
}
