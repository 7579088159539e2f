import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoPostgreSQL

/// Changes of many jobs at once.
@Suite(.serialized, .timeLimit(.minutes(10)))
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
        "UPDATE outcome SET state = 6, failure = NULL, code = NULL WHERE id = 2", "DELETE FROM job WHERE id = 2",
    ])
    func jobsThatLeftTheirStateMeanwhileAreSkipped(interruption: String) async throws {
        let fixture = try await StoreFixture()
        try await discard(3, .sourceTimeout, in: fixture)
        let store = fixture.store
        let (locked, lock) = AsyncStream<Void>.makeStream()
        let other = try fixture.anotherStore()
        async let held: Void = other.transaction { db in
            _ = try db.execute(interruption)
            lock.finish()
            // The page has been read once the change waits for the locked row.
            try db.waitUntilAnotherWaits()
        }
        for await _ in locked {}
        let progress = try await store.change(filter { _ in }, by: .retry)
        try await held
        #expect((progress.changed, progress.passed) == (2, 1))
        #expect(try await store.states(of: [1, 3]) == [1: .available, 3: .available])
        if interruption.contains("state = 6") { #expect(try await store.job(2).state == .cancelled) }
    }

    /// Otherwise a change that creates new matches would never end.
    @Test func jobsAddedMeanwhileAreLeftAlone() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(2)
        let request = StoreFixture.request()
        let (added, add) = AsyncStream<Void>.makeStream()
        let other = Task {
            for await _ in added { _ = try await fixture.anotherStore().enqueue([request]) }
        }
        let progress = try await fixture.store.change(filter { $0.states = [.available] }, by: .cancel) { _ in
            add.yield()
        }
        add.finish()
        try await other.value
        #expect(progress.changed == 2)
        #expect(try await fixture.store.status().count(.available) == 1)
    }
}
