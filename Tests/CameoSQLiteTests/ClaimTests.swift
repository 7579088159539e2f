import CameoModel
import CameoStore
import Foundation
import GRDB
import TestSupport
import Testing

@testable import CameoSQLite

@Suite(.timeLimit(.minutes(10)))
struct ClaimTests {
    @Test func claimCountsAndOpensAnAttempt() async throws {
        let fixture = try StoreFixture()
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
        let fixture = try StoreFixture()
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
        let fixture = try StoreFixture()
        try await fixture.enqueue()
        try await fixture.enqueue { $0.priority = 5 }
        try await fixture.enqueue { $0.priority = -5 }
        let order = try await fixture.store.claim(limit: 3, for: "w1").map(\.claim.jobID)
        #expect(order == [2, 1, 3])
    }

    @Test func theLowestRankOfAllQueuesComesFirst() async throws {
        let fixture = try StoreFixture()
        for (queue, priority) in [("a", 0), ("b", 5), ("c", 3)] {
            try await fixture.enqueue {
                $0.queue = queue
                $0.priority = priority
            }
        }
        #expect(try await fixture.store.claim(limit: 2, for: "w1").map(\.queue) == ["b", "c"])
    }

    @Test func claimSkipsJobsScheduledLaterUntilTheyAreDue() async throws {
        let fixture = try StoreFixture()
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
        let fixture = try StoreFixture()
        let now = fixture.clock.storeClock.now()
        try await fixture.enqueue(1_000) { $0.runAt = now.addingTimeInterval(60) }
        try await fixture.enqueue { $0.runAt = now.addingTimeInterval(30) }
        fixture.clock.advance(seconds: 61)
        #expect(try await fixture.store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [1_001])
    }

    @Test func claimKeepsToItsQueuesAndSkipsPausedOnes() async throws {
        let fixture = try StoreFixture()
        for queue in ["a", "b", "c"] { try await fixture.enqueue { $0.queue = queue } }
        try await fixture.store.commit { db in try db.execute(sql: "UPDATE queue SET paused = 1 WHERE name = 'a'") }
        #expect(try await fixture.store.claim(limit: 9, queues: ["a", "b"], for: "w1").map(\.queue) == ["b"])
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.queue) == ["c"])
        #expect(try await fixture.store.unfinishedJobs(queues: nil) == 2)
    }

    @Test func poisonJobsAreOnlyClaimedAlone() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(2)
        try await fixture.store.commit { db in try db.execute(sql: "UPDATE task SET crash_count = 3 WHERE id = 1") }
        #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
        try await fixture.store.commit { db in try db.execute(sql: "UPDATE task SET attempted_at = 1 WHERE id = 1") }
        #expect(try await fixture.store.hasOverduePoisonJob(queues: nil))
        #expect(try await !fixture.store.hasOverduePoisonJob(queues: ["other"]))
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [2])
        #expect(try await fixture.store.claim(limit: 1, kind: .poison, for: "w1").map(\.claim.jobID) == [1])
        #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
    }

    @Test func aPoisonJobIsOverdueAfterAMinute() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue()
        let now = fixture.clock.storeClock.now().milliseconds
        try await fixture.store.commit { db in
            try db.execute(sql: "UPDATE task SET crash_count = 3, attempted_at = ?", arguments: [now])
        }
        fixture.clock.advance(seconds: 59)
        #expect(try await !fixture.store.hasOverduePoisonJob(queues: nil))
        fixture.clock.advance(seconds: 1)
        #expect(try await fixture.store.hasOverduePoisonJob(queues: nil))
    }

    @Test func aThousandQueuesAreNoObstacle() async throws {
        let fixture = try StoreFixture()
        let requests = (0..<1_000).map { index in
            StoreFixture.request("file:///\(index)") { $0.queue = "q\(index)" }
        }
        _ = try await fixture.store.enqueue(requests)
        #expect(try await fixture.store.claim(limit: 700, for: "w1").count == 700)
        #expect(try await fixture.store.claim(limit: 700, for: "w1").count == 300)
    }

    /// Each of these runs at every wake-up; INDEXED BY makes SQLite fail rather than scan the table.
    @Test(arguments: [
        "SELECT id FROM task INDEXED BY task_ready WHERE lane = 1 AND state = 1 AND crash_count < 3 ORDER BY rank",
        "SELECT min(due) FROM task INDEXED BY task_due WHERE state IN (0, 3)",
        "SELECT token FROM task INDEXED BY task_running WHERE state = 2 AND worker = 'w'",
        "SELECT id FROM lane INDEXED BY lane_open WHERE queue = 1 AND head IS NOT NULL AND shut = 0 ORDER BY head",
        """
        SELECT id FROM queue INDEXED BY queue_open WHERE head IS NOT NULL AND paused = 0 AND opens_at = 0
          AND full = 0 ORDER BY background, head
        """,
    ])
    func hotQueriesUseTheirIndexes(sql: String) async throws {
        let fixture = try StoreFixture()
        let plan = try await fixture.store.read { db in
            try String.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(sql)", adapter: SuffixRowAdapter(fromIndex: 3))
        }
        #expect(plan.contains { $0.contains("INDEX ") })
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
    }

    /// SQLite builds a list of three or more values in a CHECK anew for each row, which took a fifth of an enqueueing.
    @Test func noRowIsCheckedAgainstAList() async throws {
        let fixture = try StoreFixture()
        let lists = try await fixture.store.read { db in
            let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
            #expect(tables.contains("task"))
            return try tables.filter { !$0.hasPrefix("sqlite_") }.filter { table in
                let program = "EXPLAIN INSERT INTO \(table) DEFAULT VALUES"
                return try String.fetchAll(db, sql: program, adapter: SuffixRowAdapter(fromIndex: 1))
                    .contains("OpenEphemeral")
            }
        }
        #expect(lists == [])
    }
}
