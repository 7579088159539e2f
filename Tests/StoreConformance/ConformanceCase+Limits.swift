import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension ConformanceCase {
    /// Concurrency limits of queues and keys.
    static let limits: [ConformanceCase] = [
        ConformanceCase("a key runs one job unless the request says more") { fixture in
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
            try #require(limits.map { "\($0.key) \($0.running)/\($0.maxRunning)" } == ["tenant-1 1/1", "tenant-2 3/3"])
            #expect(try await fixture.store.concurrencyLimit(of: "tenant-2") == limits[1])
            let unknown = ConcurrencyLimit(key: "tenant-3", maxRunning: 1, running: 0, isFixed: false)
            #expect(try await fixture.store.concurrencyLimit(of: "tenant-3") == unknown)
            for job in claimed { try await finish(job, fixture) }
            #expect(try await fixture.store.claim(limit: 99, for: "w1").count == 2)
        },
        ConformanceCase("jobs of a full key are skipped and return in order") { fixture in
            try await fixture.enqueue(50) { $0.concurrencyKey = "k" }
            let first = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
            #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
            try await fixture.enqueue(1) {
                $0.concurrencyKey = "k"
                $0.priority = 10
            }
            try await finish(first, fixture)
            #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [51])
        },
        ConformanceCase("one key in several queues has one limit") { fixture in
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
        },
        ConformanceCase("an operator's limit overrides requests") { fixture in
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
        },
        ConformanceCase("a poison job of a full key blocks no others") { fixture in
            try await fixture.enqueue(2) { $0.concurrencyKey = "k" }
            #expect(try await fixture.store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [1])
            try await fixture.sql("UPDATE task SET crash_count = 3, attempted_at = 1 WHERE id = 2")
            #expect(try await fixture.store.claim(limit: 1, kind: .poison, for: "w1").isEmpty)
            #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
        },
        ConformanceCase("a poison job that returns to a full key blocks no others") { fixture in
            try await fixture.store.limit(key: "k", to: 2)
            try await fixture.enqueue(2) { $0.concurrencyKey = "k" }
            let jobs = try await fixture.store.claim(limit: 2, for: "w1")
            try await fixture.store.limit(key: "k", to: 1)
            try await fixture.store.release(jobs[1].claim)
            _ = try await fixture.sql("UPDATE task SET crash_count = 3, attempted_at = 1 WHERE id = 2")
            #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
        },
        ConformanceCase("a poison job behind one of a full key is claimed") { fixture in
            try await fixture.enqueue(2) { $0.concurrencyKey = "k" }
            try await fixture.enqueue()
            #expect(try await fixture.store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [1])
            try await fixture.sql("UPDATE task SET crash_count = 3 WHERE id > 1")
            #expect(try await fixture.store.claim(limit: 1, kind: .poison, for: "w1").map(\.claim.jobID) == [3])
        },
        ConformanceCase("a limit below the running count stops only new claims") { fixture in
            try await fixture.enqueue(8)
            let running = try await fixture.store.claim(limit: 4, for: "w1")
            try await fixture.store.limit(queue: "default", to: 2)
            #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
            for job in running.prefix(2) { try await finish(job, fixture) }
            #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
            try await finish(running[2], fixture)
            #expect(try await fixture.store.claim(limit: 9, for: "w1").count == 1)
        },
        ConformanceCase("limits are in the report of the queue") { fixture in
            try await fixture.store.limit(queue: "imports", to: 3, unknown: .created)
            #expect(try await fixture.store.queues().map(\.maxRunning) == [3])
        },
    ]

    static let limitsVaried: [ConformanceCase] = {
        let ends = ["complete", "discard", "fail", "release", "cancel", "rescue"].map(aKeyIsFreedHoweverItsJobEnds)
        return ends + ["asleep", "paused"].map(aJobInAPausedQueueDoesNotKeepItsKey)
    }()

    private static func finish(_ job: ClaimedJob, _ fixture: Fixture) async throws {
        try await fixture.store.complete(job.claim)
    }

    private static func aKeyIsFreedHoweverItsJobEnds(_ way: String) -> ConformanceCase {
        ConformanceCase("a key is freed however its job ends: \(way)") { fixture in
            // Every way in which a running job ends frees its key.
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
                fixture.clock.advance(seconds: fixture.store.lease.seconds + 1)
                _ = try await fixture.store.rescueExpired(except: "me")
            }
            try await fixture.register("w2")
            #expect(try await fixture.store.claim(limit: 9, for: "w2").count == 1)
            #expect(try await fixture.faults() == [])
            try await fixture.store.deregister("w1")
        }
    }

    private static func aJobInAPausedQueueDoesNotKeepItsKey(_ paused: String) -> ConformanceCase {
        ConformanceCase("a job in a paused queue does not keep its key: \(paused)") { fixture in
            // Covers queues whose names sort before and after the other's.
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
    }
}
