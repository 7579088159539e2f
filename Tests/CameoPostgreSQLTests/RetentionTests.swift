import CameoModel
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoPostgreSQL

@Suite(.serialized, .timeLimit(.minutes(10)))
struct RetentionTests {
    /// Creates one job in each state; the final ones end at the time of the call.
    private func jobsInEveryState(_ fixture: StoreFixture) async throws {
        try await fixture.register()
        try await fixture.enqueue(6)
        let jobs = try await fixture.store.claim(limit: 4, for: "w1")
        try await fixture.store.complete(jobs[0])
        let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
        try await fixture.store.fail(jobs[1].claim, with: failure)
        let later = fixture.clock.now.addingTimeInterval(1_000_000_000)
        try await fixture.store.fail(jobs[2].claim, with: failure, retryAt: later)
        _ = try await fixture.store.cancel(5)
    }

    private func prune(_ fixture: StoreFixture, _ retention: Retention) async throws -> Pruned {
        let turn = try await fixture.store.freeTurn()
        return try await fixture.store.prune(retention, in: turn)
    }

    @Test func eachFinalStateIsKeptForItsOwnTimeAndUnfinishedJobsForEver() async throws {
        let fixture = try await StoreFixture()
        try await jobsInEveryState(fixture)
        var retention = Retention()
        (retention.completed, retention.cancelled, retention.discarded) = (.seconds(60), .seconds(120), .seconds(180))
        #expect(try await prune(fixture, retention).isEmpty)
        fixture.clock.advance(seconds: 61)
        #expect(try await fixture.store.prunable(retention).jobs == 1)
        let first = try await prune(fixture, retention)
        #expect((first.completed, first.cancelled, first.discarded) == (1, 0, 0))
        fixture.clock.advance(seconds: 60)
        #expect(try await prune(fixture, retention).cancelled == 1)
        fixture.clock.advance(seconds: 60)
        #expect(try await prune(fixture, retention).discarded == 1)
        fixture.clock.advance(seconds: 1_000_000)
        #expect(try await prune(fixture, retention).isEmpty)
        #expect(try await fixture.store.jobs(JobFilter()).map(\.state) == [.available, .running, .retryable])
        #expect(try await fixture.wrongCounts() == "")
        let left = "SELECT count(*) FROM attempt WHERE job_id NOT IN (SELECT id FROM job)"
        #expect(try await fixture.sql(left) == "0")
    }

    @Test func thumbnailsOutliveTheirJobs() async throws {
        let fixture = try await StoreFixture()
        try await jobsInEveryState(fixture)
        let thumbnail = try #require(try await fixture.store.job(1).thumbnails.first)
        fixture.clock.advance(seconds: 30 * 86_400)
        #expect(try await prune(fixture, Retention()).completed == 1)
        await #expect(throws: StoreError.noSuchJob(1)) { try await fixture.store.job(1) }
        let uri = thumbnail.uri
        #expect(try await fixture.store.data(of: uri) == Data("thumbnail".utf8))
    }

    @Test func forEverKeepsEverything() async throws {
        let fixture = try await StoreFixture()
        try await jobsInEveryState(fixture)
        fixture.clock.advance(seconds: 1_000_000_000)
        #expect(try await fixture.store.prunable(.forever).isEmpty)
        #expect(try await prune(fixture, .forever).isEmpty)
    }

    /// Others get the write lock between the transactions, none of which removes more than a hundred jobs.
    @Test func removesInSmallTransactionsBeyondJobsThatAreKept() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await fixture.enqueue(1_200)
        let jobs = try await fixture.store.claim(limit: 1_050, for: "w1")
        try await fixture.store.discard(jobs, JobFailure(.sourceTimeout, at: .fetch, "slow"))
        fixture.clock.advance(seconds: 1)
        try await fixture.store.cancelAll()
        fixture.clock.advance(seconds: 10)
        var retention = Retention()
        retention.cancelled = .seconds(5)
        let turn = try await fixture.store.freeTurn()
        var steps: [Int] = []
        let pruned = try await fixture.store.prune(retention, in: turn) { steps.append($0.jobs) }
        #expect((pruned.cancelled, pruned.discarded) == (150, 0))
        #expect(steps == [100, 50])
        // They ended in the same millisecond, and are more than one page.
        retention.discarded = .seconds(5)
        #expect(try await fixture.store.prune(retention, in: turn).discarded == 1_050)
    }

    @Test(arguments: [JobState.available, .cancelled])
    func aJobRetriedMeanwhileIsKept(andIsNow state: JobState) async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(101)
        try await fixture.store.cancelAll()
        fixture.clock.advance(seconds: 10)
        var retention = Retention()
        retention.cancelled = .seconds(5)
        let turn = try await fixture.store.freeTurn()
        let store = fixture.store
        var before: JobState?
        let pruned = try await store.prune(retention, in: turn) { step in
            guard step.jobs == 100 else { return }
            // Between the scan, which found all, and the transaction that would remove the last one.
            before = try? await store.retry(101).before
            // It ended again just now.
            if state == .cancelled { _ = try? await store.cancel(101) }
        }
        #expect(before == .cancelled)
        #expect(pruned.cancelled == 100)
        #expect(try await store.job(101).state == state)
    }

    @Test func unreferencedBytesAreRemovedAfterAnHour() async throws {
        let fixture = try await StoreFixture()
        try await jobsInEveryState(fixture)
        let kept = try await fixture.store.store(Data("a program's own".utf8), mediaType: nil)
        try await fixture.sql("DELETE FROM thumbnail")
        #expect(try await fixture.store.status().blobs.count == 2)
        fixture.clock.advance(seconds: 3_599)
        #expect(try await fixture.store.prunable(.forever).isEmpty)
        #expect(try await prune(fixture, .forever).isEmpty)
        fixture.clock.advance(seconds: 2)
        #expect(try await fixture.store.prunable(.forever).blobs == 1)
        let pruned = try await prune(fixture, .forever)
        #expect((pruned.blobs, pruned.blobBytes, pruned.jobs) == (1, 9, 0))
        #expect(try await fixture.store.data(of: kept) == Data("a program's own".utf8))
        #expect(try await fixture.wrongCounts() == "")
    }

    @Test func onlyOneProcessHoldsTheMaintenanceLock() async throws {
        let fixture = try await StoreFixture()
        let other = try fixture.anotherStore()
        var turn = try await fixture.store.maintenanceTurn()
        #expect(turn != nil)
        #expect(try await other.maintenanceTurn() == nil)
        #expect(try await other.maintenanceTurn(within: .milliseconds(30)) == nil)
        turn = nil
        _ = turn
        #expect(try await other.maintenanceTurn(within: .seconds(300)) != nil)
        await #expect(throws: StoreError.readOnly(path: fixture.store.location)) {
            try await fixture.reader().maintenanceTurn()
        }
    }

    /// A process that died, or was cut off from the server.
    @Test func theMaintenanceLockOfALostProcessIsTakenOver() async throws {
        let fixture = try await StoreFixture()
        let lost = try #require(try await fixture.store.maintenanceTurn())
        fixture.clock.advance(seconds: 59)
        let other = try fixture.anotherStore()
        #expect(try await other.maintenanceTurn() == nil)
        fixture.clock.advance(seconds: 2)
        // Nobody has taken it: its holder goes on, and with each step for another minute.
        _ = try await fixture.store.prune(.forever, in: lost)
        #expect(try await other.maintenanceTurn() == nil)
        fixture.clock.advance(seconds: 61)
        let turn = try #require(try await other.maintenanceTurn())
        await #expect(throws: StoreError.busy(path: fixture.store.location)) {
            try await fixture.store.prune(.forever, in: lost)
        }
        _ = try await other.prune(.forever, in: turn)
    }

    /// The history is in weeks: those to come are made, and past ones dropped when they are empty.
    @Test func weeksOfHistoryComeAndGo() async throws {
        let fixture = try await StoreFixture()
        func weeks() async throws -> [Substring] {
            let names =
                "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'outcome'::regclass ORDER BY 1"
            return try await fixture.sql(names).split(separator: "\n").filter { $0 != "outcome_other" }
        }
        let turn = try await fixture.store.freeTurn()
        _ = try await fixture.store.prune(Retention(), in: turn)
        #expect(try await weeks().count == 5, "this week and four more")
        try await fixture.enqueue(2)
        _ = try await fixture.store.cancel(1)
        #expect(try await fixture.sql("SELECT count(*) FROM outcome_other") == "0")
        fixture.clock.advance(seconds: 6 * 86_400)
        _ = try await fixture.store.cancel(2)
        let before = try await weeks()
        // Jobs of the first week are still kept.
        _ = try await fixture.store.prune(Retention(), in: turn)
        #expect(try await Set(weeks()).isSuperset(of: before))
        fixture.clock.advance(seconds: 30 * 86_400)
        #expect(try await fixture.store.prune(Retention(), in: turn).cancelled == 2)
        let after = try await weeks()
        #expect(after.count == 5 && Set(after).isDisjoint(with: before.prefix(1)))
        #expect(try await fixture.sql("SELECT count(*) FROM pg_inherits WHERE inhparent = 'attempt'::regclass") == "6")
    }
}
