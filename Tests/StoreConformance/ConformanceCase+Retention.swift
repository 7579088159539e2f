import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    static let retention: [ConformanceCase] = [
        ConformanceCase("each final state is kept for its own time and unfinished jobs, for ever") { fixture in
            try await jobsInEveryState(fixture)
            var retention = Retention()
            (retention.completed, retention.cancelled) = (.seconds(60), .seconds(120))
            retention.discarded = .seconds(180)
            #expect(try await fixture.prune(retention).isEmpty)
            fixture.clock.advance(seconds: 61)
            #expect(try await fixture.store.prunable(retention).jobs == 1)
            let first = try await fixture.prune(retention)
            #expect((first.completed, first.cancelled, first.discarded) == (1, 0, 0))
            fixture.clock.advance(seconds: 60)
            #expect(try await fixture.prune(retention).cancelled == 1)
            fixture.clock.advance(seconds: 60)
            #expect(try await fixture.prune(retention).discarded == 1)
            fixture.clock.advance(seconds: 1_000_000)
            #expect(try await fixture.prune(retention).isEmpty)
            #expect(try await fixture.store.jobs(JobFilter()).map(\.state) == [.available, .running, .retryable])
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("a batch keeps its jobs until it is finished, and its counts as long as it has jobs") {
            fixture in
            try await fixture.register()
            let ids = try await fixture.enqueue(4) { $0.batch = "holiday" }.compactMap(\.id)
            let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
            for (index, job) in try await fixture.store.claim(limit: 3, for: "w1").enumerated() {
                if index == 0 {
                    try await fixture.store.discard([job], failure)
                } else {
                    try await fixture.store.complete(job)
                }
            }
            var retention = Retention()
            (retention.completed, retention.discarded, retention.cancelled) = (.seconds(60), .seconds(60), .seconds(60))
            fixture.clock.advance(seconds: 100)
            #expect(try await fixture.store.prunable(retention).jobs == 0)
            #expect(try await fixture.prune(retention).jobs == 0)
            let before = try await fixture.store.batch("holiday")
            #expect((before.total, before.finished, before.count(.completed)) == (4, 3, 2))
            _ = try await fixture.store.cancel(ids[3])
            #expect(try await fixture.prune(retention).jobs == 3)
            let report = try await fixture.store.batch("holiday")
            #expect((report.count(.completed), report.count(.discarded), report.count(.cancelled)) == (2, 1, 1))
            #expect(report.failures.map(\.code) == [.sourceTimeout])
            #expect(try await fixture.faults() == [])
            fixture.clock.advance(seconds: 100)
            #expect(try await fixture.prune(retention).jobs == 1)
            await #expect(throws: StoreError.batchWithoutJobs("holiday")) { try await fixture.store.batch("holiday") }
            #expect(try await fixture.store.forget(ForgetSelector(.batch("holiday")), atOnce: false).thumbnails == 2)
            await #expect(throws: StoreError.noSuch(.batch, "holiday")) { try await fixture.store.batch("holiday") }
        },
        ConformanceCase("a job that is kept for no time goes in the millisecond of its end") { fixture in
            try await fixture.register()
            try await fixture.enqueue()
            try await fixture.complete(try #require(try await fixture.claim().first))
            var retention = Retention.forever
            retention.completed = .zero
            #expect(try await fixture.store.prunable(retention).completed == 1)
            #expect(try await fixture.prune(retention).completed == 1)
        },
        ConformanceCase("a retention for ever keeps everything") { fixture in
            try await jobsInEveryState(fixture)
            fixture.clock.advance(seconds: 1_000_000_000)
            #expect(try await fixture.store.prunable(.forever).isEmpty)
            #expect(try await fixture.prune(.forever).isEmpty)
        },
        ConformanceCase("pruning removes in small transactions, beyond jobs that are kept") { fixture in
            // Others get the write lock between the transactions, none of which removes more than a hundred jobs.
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
        },
        ConformanceCase("changes are removed without a gap if the clock was ahead") { fixture in
            try await changesAreRemovedWithoutAGap(days: 5, fixture)
        },
        ConformanceCase("changes are removed without a gap if the clock was behind") { fixture in
            try await changesAreRemovedWithoutAGap(days: -5, fixture)
        },
        ConformanceCase("a retry that was put off by a clock that was ahead is due by the right one") { fixture in
            try await fixture.register()
            try await fixture.enqueue()
            fixture.clock.jump(days: 5)
            try await fixture.store.extendLease(of: "w1")
            let job = try #require(try await fixture.claim().first)
            try await fixture.store.fail(job.claim, with: Fixture.failure, retryAt: fixture.clock.now + 60)
            fixture.clock.jump(days: -5)
            #expect(try await fixture.claim().isEmpty)
            _ = try await fixture.prune(.forever)
            #expect(try await fixture.claim().map(\.claim.jobID) == [1])
        },
        ConformanceCase("of changes by a clock that is still ahead the last are kept") { fixture in
            fixture.clock.jump(days: 400)
            try await fixture.makeChanges()
            fixture.clock.jump(days: -400)
            try await fixture.makeChanges()
            fixture.clock.advance(seconds: 61)
            _ = try await fixture.prune(fixture.minute)
            #expect(try await fixture.cursors() == [4])
            fixture.clock.jump(days: 400)
            try await fixture.makeChanges()
            fixture.clock.jump(days: -400)
            _ = try await fixture.prune(fixture.minute)
            #expect(try await fixture.cursors() == [5, 6])
            _ = try await fixture.store.status()
        },
        ConformanceCase("unreferenced bytes are removed after an hour") { fixture in
            try await jobsInEveryState(fixture)
            let kept = try await fixture.store.store(Data("a program's own".utf8), mediaType: nil)
            try await fixture.sql("DELETE FROM thumbnail")
            #expect(try await fixture.store.status().blobs.count == 2)
            fixture.clock.advance(seconds: 3_599)
            #expect(try await fixture.store.prunable(.forever).isEmpty)
            #expect(try await fixture.prune(.forever).isEmpty)
            fixture.clock.advance(seconds: 2)
            #expect(try await fixture.store.prunable(.forever).blobs == 1)
            let pruned = try await fixture.prune(.forever)
            #expect((pruned.blobs, pruned.blobBytes, pruned.jobs) == (1, 9, 0))
            #expect(try await fixture.store.data(of: kept) == Data("a program's own".utf8))
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("only one process holds the maintenance lock") { fixture in
            let other = try await fixture.another()
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
        },
    ]

    static let retentionVaried: [ConformanceCase] =
        [JobState.available, .cancelled].map(aJobRetriedMeanwhileIsKept)

    /// Creates one job in each state; the final ones end at the time of the call.
    private static func jobsInEveryState(_ fixture: Fixture) async throws {
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

    private static func aJobRetriedMeanwhileIsKept(_ state: JobState) -> ConformanceCase {
        ConformanceCase("a job retried meanwhile is kept: \(state)") { fixture in
            try await fixture.enqueue(101)
            try await fixture.store.cancelAll()
            fixture.clock.advance(seconds: 10)
            var retention = Retention()
            retention.cancelled = .seconds(5)
            let turn = try await fixture.store.freeTurn()
            var before: JobState?
            let pruned = try await fixture.store.prune(retention, in: turn) { step in
                guard step.jobs == 100 else { return }
                // Between the scan, which found all, and the transaction that would remove the last one.
                before = try? await fixture.store.retry(101).before
                // It ended again just now.
                if state == .cancelled { _ = try? await fixture.store.cancel(101) }
            }
            #expect(before == .cancelled)
            #expect(pruned.cancelled == 100)
            #expect(try await fixture.store.job(101).state == state)
        }
    }
}

/// Changes of before, of a time with another clock, and of afterwards; the first retention after them finds one or the other
/// expired.
private func changesAreRemovedWithoutAGap(days: Double, _ fixture: Fixture) async throws {
    try await fixture.register()
    for jump in [0, days, -days, days, -days] {
        fixture.clock.jump(days: jump)
        try await fixture.makeChanges()
    }
    for _ in 0..<3 {
        fixture.clock.advance(seconds: 31)
        _ = try await fixture.prune(fixture.minute)
        let cursors = try await fixture.cursors()
        let last = try #require(cursors.last)
        #expect(cursors == Array((last - Int64(cursors.count) + 1)...last))
        let status = try await fixture.store.status()
        #expect(status.throughput.allSatisfy { $0.completed == 0 && $0.discarded == 0 && $0.seconds >= 1 })
        try await fixture.makeChanges()
    }
    #expect(try await fixture.cursors().count == 4, "all before this minute have gone")
    #expect(try await fixture.faults() == [])
}

extension Fixture {
    fileprivate var minute: Retention {
        var retention = Retention()
        (retention.completed, retention.cancelled, retention.discarded) = (.seconds(60), .seconds(60), .seconds(60))
        return retention
    }

    /// Two changes of a job.
    fileprivate func makeChanges() async throws {
        let id = try #require(try await store.enqueue([Fixture.request(0)]).first?.id)
        _ = try await store.cancel(id)
    }

    fileprivate func cursors() async throws -> [Int64] { try await store.changes(since: 0, limit: .max).map(\.cursor) }
}
