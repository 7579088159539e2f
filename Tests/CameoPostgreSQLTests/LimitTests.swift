import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Concurrency limits of queues and keys.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct LimitTests {
    private func finish(_ job: ClaimedJob, _ fixture: StoreFixture) async throws {
        try await fixture.store.complete(job.claim)
    }

    @Test func aQueueRunsNoMoreThanItsLimitOverAllWorkers() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(5)
        try await fixture.store.limit(queue: "default", to: 2, unknown: .created)
        let first = try await fixture.store.claim(limit: 9, for: "w1")
        #expect(first.count == 2)
        #expect(try await fixture.anotherStore().claim(limit: 9, for: "w2").isEmpty)
        try await finish(first[0], fixture)
        #expect(try await fixture.store.claim(limit: 9, for: "w2").count == 1)
        try await fixture.store.limit(queue: "default", to: nil, unknown: .created)
        #expect(try await fixture.store.claim(limit: 9, for: "w2").count == 2)
    }

    @Test func aKeyRunsOneJobUnlessTheRequestSaysMore() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(3) { $0.concurrencyKey = "tenant-1" }
        try await fixture.enqueue(4) {
            $0.concurrencyKey = "tenant-2"
            $0.concurrencyLimit = 3
        }
        try await fixture.enqueue(2)
        let claimed = try await fixture.store.claim(limit: 99, for: "w1")
        #expect(claimed.count == 1 + 3 + 2)
        #expect(try await fixture.store.claim(limit: 99, for: "w1").isEmpty)
        let limits = try await fixture.store.concurrencyLimits()
        #expect(limits.map { "\($0.key) \($0.running)/\($0.maxRunning)" } == ["tenant-1 1/1", "tenant-2 3/3"])
        #expect(try await fixture.store.concurrencyLimit(of: "tenant-2") == limits[1])
        let unknown = ConcurrencyLimit(key: "tenant-3", maxRunning: 1, running: 0, isFixed: false)
        #expect(try await fixture.store.concurrencyLimit(of: "tenant-3") == unknown)
        for job in claimed { try await finish(job, fixture) }
        #expect(try await fixture.store.claim(limit: 99, for: "w1").count == 2)
    }

    /// Every way in which a running job ends frees its key.
    @Test(arguments: ["complete", "discard", "fail", "release", "cancel", "rescue"])
    func aKeyIsFreedHoweverItsJobEnds(way: String) async throws {
        let fixture = try await StoreFixture()
        try await fixture.register("w1")
        try await fixture.enqueue(2) { $0.concurrencyKey = "k" }
        let job = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
        let later = fixture.clock.now.addingTimeInterval(600)
        switch way {
        case "complete": try await finish(job, fixture)
        case "discard": try await fixture.store.fail(job.claim, with: failure)
        case "fail": try await fixture.store.fail(job.claim, with: failure, retryAt: later)
        case "release": try await fixture.store.release(job.claim)
        case "cancel": _ = try await fixture.store.cancel(job.claim.jobID)
        default:
            fixture.clock.advance(seconds: 31)
            _ = try await fixture.store.rescueExpired(except: "me")
        }
        #expect(try await fixture.store.claim(limit: 9, for: "w2").count == 1)
        #expect(try await fixture.wrongCounts() == "")
        try await fixture.store.deregister("w1")
    }

    @Test func jobsOfAFullKeyAreSkippedAndReturnInOrder() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(50) { $0.concurrencyKey = "k" }
        let first = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        try await fixture.enqueue(1) {
            $0.concurrencyKey = "k"
            $0.priority = 10
        }
        try await finish(first, fixture)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [51])
    }

    /// Covers queues whose names sort before and after the other's.
    @Test(arguments: ["asleep", "paused"])
    func aJobInAPausedQueueDoesNotKeepItsKey(paused: String) async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(3) {
            $0.queue = paused
            $0.concurrencyKey = "k"
        }
        try await fixture.enqueue(1) { $0.concurrencyKey = "k" }
        _ = try await fixture.store.pause(paused)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.queue) == ["default"])
        _ = try await fixture.store.resume(paused)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty, "its key is full now")
    }

    @Test func oneKeyInSeveralQueuesHasOneLimit() async throws {
        let fixture = try await StoreFixture()
        for queue in ["a", "b", "c"] {
            try await fixture.enqueue(2) {
                $0.queue = queue
                $0.concurrencyKey = "k"
                $0.concurrencyLimit = 2
            }
        }
        try await fixture.enqueue(4) { $0.queue = "a" }
        let jobs = try await fixture.store.claim(limit: 5, for: "w1")
        #expect(jobs.map(\.claim.jobID) == [1, 2, 7, 8, 9], "blocked jobs do not shorten a claim")
    }

    @Test func anOperatorsLimitOverridesRequests() async throws {
        let fixture = try await StoreFixture()
        try await fixture.store.limit(key: "k", to: 2)
        try await fixture.enqueue(5) {
            $0.concurrencyKey = "k"
            $0.concurrencyLimit = 4
        }
        #expect(try await fixture.store.claim(limit: 9, for: "w1").count == 2)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        try await fixture.store.limit(key: "k", to: 3)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").count == 1)
        try await fixture.store.limit(key: "k", to: nil)
        try await fixture.enqueue(1) {
            $0.concurrencyKey = "k"
            $0.concurrencyLimit = 4
        }
        #expect(try await fixture.store.claim(limit: 9, for: "w1").count == 1)
    }

    @Test func aPoisonJobOfAFullKeyBlocksNoOthers() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(2) { $0.concurrencyKey = "k" }
        #expect(try await fixture.store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [1])
        try await fixture.sql("UPDATE task SET crash_count = 3, attempted_at = 1 WHERE id = 2")
        #expect(try await fixture.store.claim(limit: 1, kind: .poison, for: "w1").isEmpty)
        #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
    }

    @Test func aPoisonJobThatReturnsToAFullKeyBlocksNoOthers() async throws {
        let fixture = try await StoreFixture()
        try await fixture.store.limit(key: "k", to: 2)
        try await fixture.enqueue(2) { $0.concurrencyKey = "k" }
        let jobs = try await fixture.store.claim(limit: 2, for: "w1")
        try await fixture.store.limit(key: "k", to: 1)
        try await fixture.store.release(jobs[1].claim)
        _ = try await fixture.sql("UPDATE task SET crash_count = 3, attempted_at = 1 WHERE id = 2")
        #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
    }

    @Test func aPoisonJobBehindOneOfAFullKeyIsClaimed() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(2) { $0.concurrencyKey = "k" }
        try await fixture.enqueue()
        #expect(try await fixture.store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [1])
        try await fixture.sql("UPDATE task SET crash_count = 3 WHERE id > 1")
        #expect(try await fixture.store.claim(limit: 1, kind: .poison, for: "w1").map(\.claim.jobID) == [3])
    }

    @Test func aLimitBelowTheRunningCountStopsOnlyNewClaims() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(8)
        let running = try await fixture.store.claim(limit: 4, for: "w1")
        try await fixture.store.limit(queue: "default", to: 2)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        for job in running.prefix(2) { try await finish(job, fixture) }
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        try await finish(running[2], fixture)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").count == 1)
    }

    @Test func limitsAreInTheReportOfTheQueue() async throws {
        let fixture = try await StoreFixture()
        try await fixture.store.limit(queue: "imports", to: 3, unknown: .created)
        #expect(try await fixture.store.queues().map(\.maxRunning) == [3])
    }
}
