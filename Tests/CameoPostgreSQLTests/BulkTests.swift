import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Changes of many jobs at once.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct BulkTests {
    /// Discards this many jobs, each with a failure code.
    private func discard(
        _ count: Int,
        _ code: JobFailure.Code,
        in fixture: StoreFixture,
        change: (inout ThumbnailRequest) -> Void = { _ in }
    ) async throws {
        try await fixture.enqueue(count, change: change)
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

    @Test func retryAffectsOnlyJobsWithTheCode() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await discard(3, .sourceTimeout, in: fixture)
        try await discard(2, .imageCorrupt, in: fixture)
        let filter = filter { $0.codes = [.sourceTimeout] }
        #expect(try await fixture.store.count(filter) == 3)
        let progress = try await fixture.store.change(filter, by: .retry)
        #expect((progress.matched, progress.changed, progress.passed) == (3, 3, 0))
        let report = try await fixture.store.status()
        #expect((report.count(.available), report.count(.discarded)) == (3, 2))
        let job = try await fixture.store.job(1)
        #expect((job.attempt, job.failure) == (0, nil))
        #expect(job.attempts?.map(\.failure?.code) == [.sourceTimeout], "its history is kept")
    }

    @Test(
        arguments: [
            ("queue", 1), ("batch", 2), ("source", 3), ("before", 4), ("all", 7),
        ]
    )
    func filtersMatchWhatTheyName(name: String, count: Int) async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await discard(1, .sourceTimeout, in: fixture) { $0.queue = "imports" }
        try await discard(2, .sourceTimeout, in: fixture) { $0.batch = "holiday" }
        try await discard(3, .sourceTimeout, in: fixture) {
            $0.source = "https://shop.example/%_/\($0.source.suffix(5))"
        }
        try await discard(1, .sourceTimeout, in: fixture) { $0.source = "https://shop.example/%X/1.jpg" }
        let filter = filter { filter in
            switch name {
            case "queue": filter.queue = "imports"
            case "batch": filter.batch = "holiday"
            case "source": filter.sourcePrefix = "https://shop.example/%_/"
            case "before": filter.before = 5
            default: break
            }
        }
        #expect(try await fixture.store.count(filter) == count)
        #expect(try await fixture.store.jobs(filter).count == count)
        #expect(try await fixture.store.change(filter, by: .retry).changed == count)
        #expect(try await fixture.store.status().count(.available) == count)
    }

    @Test func aChangeDefaultsToItsUsualStates() throws {
        #expect(try BulkChange.retry.meant(by: JobFilter()).states == [.discarded])
        let waiting: [JobState] = [.scheduled, .available, .running, .retryable]
        #expect(try BulkChange.cancel.meant(by: JobFilter()).states == waiting)
        let named = filter { $0.states = [.retryable] }
        #expect(try BulkChange.cancel.meant(by: named) == named)
        let error = #expect(throws: BulkChange.Inapplicable.self) {
            try BulkChange.retry.meant(by: filter { $0.states = [.discarded, .running] })
        }
        #expect(error?.state == .running)
    }

    @Test func theLimitTakesTheOldest() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await discard(5, .sourceTimeout, in: fixture)
        let progress = try await fixture.store.change(filter { $0.limit = 2 }, by: .retry)
        #expect((progress.matched, progress.changed) == (2, 2))
        #expect(try await fixture.store.states(of: [1, 2, 3]) == [1: .available, 2: .available, 3: .discarded])
    }

    /// Each page is a separate commit, after which other processes get their turn.
    @Test func aLargeChangeIsMadeOfSmallTransactions() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await discard(1_250, .sourceTimeout, in: fixture)
        var steps: [Int] = []
        _ = try await fixture.store.change(filter { _ in }, by: .retry) { steps.append($0.changed) }
        #expect(steps == [500, 1_000, 1_250])
    }

    @Test func anInterruptedChangeKeepsWhatItDid() async throws {
        struct Enough: Error {}
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await discard(600, .sourceTimeout, in: fixture)
        await #expect(throws: Enough.self) {
            try await fixture.store.change(filter { _ in }, by: .retry) { _ in throw Enough() }
        }
        #expect(try await fixture.store.status().count(.available) == 500)
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
        let release = DispatchSemaphore(value: 0)
        defer { release.signal() }  // also where something throws: the other would wait for ever
        let other = try fixture.anotherStore()
        async let held: Void = other.transaction { db in
            _ = try db.execute(interruption)
            lock.yield()
            release.wait()
        }
        _ = await locked.first { _ in true }
        async let progress = store.change(filter { _ in }, by: .retry)
        // The page has been read once the change waits for the locked row.
        while try await fixture.sql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0" {}
        release.signal()
        try await held
        #expect(try await (progress.changed, progress.passed) == (2, 1))
        #expect(try await store.states(of: [1, 3]) == [1: .available, 3: .available])
        if interruption.contains("state = 6") { #expect(try await store.job(2).state == .cancelled) }
    }

    @Test func jobsOfAStateThatTheChangeDoesNotMeanAreNotCounted() async throws {
        let fixture = try await StoreFixture()
        try await discard(2, .sourceTimeout, in: fixture)
        try await fixture.enqueue(3)
        let progress = try await fixture.store.change(filter { $0.states = [] }, by: .retry)
        #expect((progress.changed, progress.passed) == (2, 3))
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

    @Test func cancelStopsAllThatHasNotEnded() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await discard(2, .imageCorrupt, in: fixture) { $0.batch = "holiday" }
        try await fixture.enqueue(3) { $0.batch = "holiday" }
        try await fixture.enqueue(1)
        let running = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        let filter = filter {
            $0.states = BulkChange.cancel.usualStates; $0.batch = "holiday"
        }
        #expect(try await fixture.store.change(filter, by: .cancel).changed == 3)
        let job = try await fixture.store.job(running.claim.jobID)
        #expect((job.state, job.attempts?.map(\.outcome)) == (.cancelled, [.cancelled]))
        let report = try await fixture.store.status()
        #expect((report.count(.cancelled), report.count(.discarded), report.count(.available)) == (3, 2, 1))
        #expect(try await fixture.wrongCounts() == "")
    }
}
