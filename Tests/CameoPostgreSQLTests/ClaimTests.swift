import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

@Suite(.timeLimit(.minutes(10)))
struct ClaimTests {
    @Test func claimCountsAndOpensAnAttempt() async throws {
        let fixture = try await StoreFixture()
        let receipt = try await fixture.enqueue()[0]
        let claimed = try await fixture.store.claim(limit: 10, for: "w1")
        #expect(try claimed.map(\.claim.jobID) == [receipt.jobID])
        #expect(claimed[0].attempt == 1)
        let job = try await fixture.store.job(receipt.jobID)
        #expect(job.state == .running)
        #expect(job.worker == "w1")
        #expect(job.attempts?.map(\.outcome) == [.running])
    }

    @Test func nothingIsClaimedTwice() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(200)
        let stores = try (0..<4).map { _ in try fixture.anotherStore() }
        let claims = try await withThrowingTaskGroup(of: [ClaimedJob].self) { group in
            for store in stores {
                for worker in 0..<8 {
                    group.addTask { try await store.claim(limit: 10, for: "w\(worker)") }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claims.count == 200)
        #expect(Set(claims.map(\.claim.jobID)).count == 200)
        #expect(Set(claims.map(\.claim.token)).count == 200)
    }

    @Test func higherPriorityComesFirstUntilWaitingOutweighsIt() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue()
        try await fixture.enqueue { $0.priority = 5 }
        try await fixture.enqueue { $0.priority = -5 }
        let order = try await fixture.store.claim(limit: 3, for: "w1").map(\.claim.jobID)
        #expect(order == [2, 1, 3])
    }

    @Test func theLowestRankOfAllQueuesComesFirst() async throws {
        let fixture = try await StoreFixture()
        for (queue, priority) in [("a", 0), ("b", 5), ("c", 3)] {
            try await fixture.enqueue {
                $0.queue = queue
                $0.priority = priority
            }
        }
        #expect(try await fixture.store.claim(limit: 2, for: "w1").map(\.queue) == ["b", "c"])
    }

    @Test func claimSkipsJobsScheduledLaterUntilTheyAreDue() async throws {
        let fixture = try await StoreFixture()
        let due = Date(timeIntervalSince1970: 1_900_000_060)
        try await fixture.enqueue { $0.runAt = due }
        #expect(try await fixture.store.claim(limit: 1, for: "w1").isEmpty)
        #expect(try await fixture.store.sweep(for: "w1").due == due)
        // Due jobs do not make others due.
        try await fixture.enqueue()
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [2])
        fixture.clock.advance(seconds: 61)
        #expect(try await fixture.store.claim(limit: 1, for: "w1").count == 1)
    }

    /// One claim makes a thousand available.
    @Test func amongThousandsOfDueJobsTheFirstComesFirst() async throws {
        let fixture = try await StoreFixture()
        let now = fixture.clock.now
        try await fixture.enqueue(1_000) { $0.runAt = now.addingTimeInterval(60) }
        try await fixture.enqueue { $0.runAt = now.addingTimeInterval(30) }
        fixture.clock.advance(seconds: 61)
        #expect(try await fixture.store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [1_001])
    }

    @Test func claimKeepsToItsQueuesAndSkipsPausedOnes() async throws {
        let fixture = try await StoreFixture()
        for queue in ["a", "b", "c"] { try await fixture.enqueue { $0.queue = queue } }
        try await fixture.sql("UPDATE queue SET paused = true WHERE name = 'a'")
        #expect(try await fixture.store.claim(limit: 9, queues: ["a", "b"], for: "w1").map(\.queue) == ["b"])
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.queue) == ["c"])
        #expect(try await fixture.store.unfinishedJobs(queues: nil) == 2)
    }

    @Test func poisonJobsAreOnlyClaimedAlone() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(2)
        try await fixture.sql("UPDATE task SET crash_count = 3 WHERE id = 1")
        #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
        try await fixture.sql("UPDATE task SET attempted_at = 1 WHERE id = 1")
        #expect(try await fixture.store.hasOverduePoisonJob(queues: nil))
        #expect(try await !fixture.store.hasOverduePoisonJob(queues: ["other"]))
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [2])
        #expect(try await fixture.store.claim(limit: 1, kind: .poison, for: "w1").map(\.claim.jobID) == [1])
        #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
    }

    @Test func aPoisonJobIsOverdueAfterAMinute() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue()
        let now = fixture.clock.now.milliseconds
        try await fixture.sql("UPDATE task SET crash_count = 3, attempted_at = \(now)")
        fixture.clock.advance(seconds: 59)
        #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
        fixture.clock.advance(seconds: 1)
        #expect(try await fixture.store.hasOverduePoisonJob(queues: nil))
    }

    @Test func aThousandQueuesAreNoObstacle() async throws {
        let fixture = try await StoreFixture()
        let requests = (0..<1_000).map { index in
            StoreFixture.request("file:///\(index)") { $0.queue = "q\(index)" }
        }
        _ = try await fixture.store.enqueue(requests)
        #expect(try await fixture.store.claim(limit: 700, for: "w1").count == 700)
        #expect(try await fixture.store.claim(limit: 700, for: "w1").count == 300)
    }

    /// With a million rows these must not scan, whatever the statistics of an empty table say.
    @Test func claimsUseTheirIndexes() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(2_000)
        let plans = try await fixture.store.read { db in
            try [
                "SELECT id FROM task WHERE lane = 1 AND state = 1 AND crash_count < 3 ORDER BY rank LIMIT 8",
                "SELECT min(due) FROM task WHERE state IN (0, 3)",
                "SELECT token FROM task WHERE state = 2 AND worker = 'w'",
                "SELECT id FROM lane WHERE queue = 1 AND head IS NOT NULL ORDER BY head LIMIT 8",
            ].map { statement in
                // As in the functions of claims.
                try db.execute("SET LOCAL enable_seqscan = off")
                try db.execute("SET LOCAL enable_bitmapscan = off")
                let lines: [String] = try db.column("EXPLAIN \(statement)")
                return lines.joined(separator: " ")
            }
        }
        for (plan, index) in zip(plans, ["task_ready", "task_due", "task_running", "lane_open"]) {
            #expect(plan.contains(index) && !plan.contains("Sort") && !plan.contains("Seq Scan"), "\(plan)")
        }
    }

    @Test func claimsOfSeveralWorkersDoNotWaitForEachOther() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(20)
        // A claim that has locked its rows and not committed yet.
        let (locked, unlock) = AsyncStream<Void>.makeStream()
        let slow = Task {
            try await fixture.store.submit(to: fixture.store.claims, .claim, nil) { db in
                var run = try ClaimRun(db, limit: 10, background: 10, queues: nil, worker: "slow")
                let jobs = try run.usual()
                unlock.yield()
                _ = try db.query("SELECT pg_sleep(1)")
                return jobs.map(\.claim.jobID)
            }
        }
        for await _ in locked { break }
        let other = try await fixture.anotherStore().claim(limit: 20, for: "quick").map(\.claim.jobID)
        #expect(other == Array(11...20))
        #expect(try await slow.value == Array(1...10))
    }

    @Test func aLimitHoldsForClaimsAtTheSameTime() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(30) {
            $0.concurrencyKey = "tenant"
            $0.concurrencyLimit = 3
        }
        try await fixture.enqueue(30) { $0.queue = "narrow" }
        try await fixture.store.limit(queue: "narrow", to: 4)
        let stores = try (0..<8).map { _ in try fixture.anotherStore() }
        let jobs = try await withThrowingTaskGroup(of: [ClaimedJob].self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask { try await store.claim(limit: 9, for: "w\(index)") }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(jobs.count { $0.queue == "narrow" } == 4)
        #expect(jobs.count { $0.queue == "default" } == 3)
    }

    /// Regression in the making: a head that a claim raises while a job below it is being inserted would hide that job.
    @Test func noJobOfAKeyIsHiddenByAClaimAtTheSameTime() async throws {
        let fixture = try await StoreFixture()
        let (producer, worker) = (try fixture.anotherStore(), try fixture.anotherStore())
        let producing = Task {
            for number in 0..<60 {
                _ = try await producer.enqueue([
                    StoreFixture.request("file:///\(number)") {
                        $0.concurrencyKey = "tenant"
                        $0.concurrencyLimit = 5
                    }
                ])
            }
        }
        var done = 0
        while done < 60 {
            try Task.checkCancellation()
            for job in try await worker.claim(limit: 3, for: "w1") {
                try await worker.complete(job.claim)
                done += 1
            }
        }
        try await producing.value
        #expect(try await fixture.sql("SELECT count(*) FROM task") == "0")
    }
}
