import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoPostgreSQL

@Suite(.timeLimit(.minutes(10)))
struct ClaimTests {
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
            try await fixture.store.claims.commit(.claim) { db in
                let request = ClaimRequest(limit: 10, background: 10, kind: .usual, queues: nil, for: "slow")
                var run = ClaimRun(db, request)
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

    /// What waits below is found once nothing waits above, or when the looks begin at the first jobs again.
    @Test func looksBeginWhereTheyWereToldTo() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(4)
        let tasks = try await fixture.store.read { db in
            try db.query("SELECT lane, rank FROM task ORDER BY id")
                .map { (lane: try $0[0] as Int64, rank: try $0[1] as Int64) }
        }
        let floors = fixture.store.floors
        floors.begin(at: [tasks[0].lane: tasks[2].rank], until: .now + .seconds(600))
        for expected in [3, 4, 1] as [Int64] {
            #expect(try await fixture.store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [expected])
            // The look at all of them may have taken long.
            #expect(expected == 1 || floors.current != nil)
        }
        try await fixture.enqueue(1)
        floors.begin(at: [tasks[0].lane: tasks[3].rank], until: .now)
        #expect(try await fixture.store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [2])
        // Another store's claim, and one that may take more than there is above.
        let other = try fixture.anotherStore()
        try await fixture.enqueue(3)
        other.floors.begin(at: [tasks[0].lane: .max], until: .now + .seconds(600))
        #expect(try await other.claim(limit: 9, for: "other").map(\.claim.jobID) == [5, 6, 7, 8])
    }

    /// Its queue's limit has a claim look twice.
    @Test func aLimitedQueueIsLookedAtFromItsFirstJobOnceNothingIsAbove() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(3)
        try await fixture.store.limit(queue: "default", to: 2, unknown: .created)
        let lane: Int64 = try #require(try await fixture.store.read { try $0.value("SELECT lane FROM task LIMIT 1") })
        fixture.store.floors.begin(at: [lane: .max], until: .now + .seconds(600))
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1, 2])
        fixture.store.floors.begin(at: [lane: .max], until: .now + .seconds(600))
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
    }

    @Test func onlyALongLookAtLanesWithoutKeysLetsOthersBeginLater() async throws {
        let fixture = try await StoreFixture()
        try await fixture.enqueue(2)
        let request = ClaimRequest(limit: 8, background: 8, kind: .usual, queues: nil, for: "w1")
        let look = ClaimOutlook.looking(for: request, now: nil, from: nil)
        func outlook(_ took: Duration) async throws -> ClaimOutlook {
            try await fixture.store.read { db in
                var outlook = try ClaimOutlook(db.query(look.sql, look.values))
                #expect(outlook.took > .zero && outlook.took < .seconds(60))
                outlook.took = took
                return outlook
            }
        }
        let floors = LaneFloors()
        let (short, long) = (try await outlook(.milliseconds(1)), try await outlook(.seconds(60)))
        floors.note(short, wasWhole: true)
        #expect(floors.ranks == nil)
        floors.note(long, wasWhole: true)
        #expect(floors.ranks == [long.lanes[0].lane: long.lanes[0].head])
        _ = try await fixture.store.claim(limit: 1, for: "w1")
        floors.note(try await outlook(.milliseconds(1)), wasWhole: false)
        #expect(floors.ranks?.values.first ?? 0 > long.lanes[0].head)
        floors.note(long, wasWhole: false)
        #expect(floors.ranks?.values.first ?? 0 > long.lanes[0].head)
        try await fixture.enqueue(1) { ($0.concurrencyKey, $0.concurrencyLimit) = ("k", 1) }
        floors.note(try await outlook(.seconds(60)), wasWhole: true)
        #expect(floors.ranks == nil)
    }
}

extension LaneFloors {
    /// Also when their time is over.
    fileprivate var ranks: Ranks? { state.withLock { $0?.ranks } }

    fileprivate func begin(at ranks: Ranks, until end: ContinuousClock.Instant) {
        state.withLock { $0 = (ranks, end) }
    }
}
