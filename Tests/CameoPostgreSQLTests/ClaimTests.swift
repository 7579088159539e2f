import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
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
}
