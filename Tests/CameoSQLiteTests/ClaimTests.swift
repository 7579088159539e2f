import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoSQLite

@Suite(.timeLimit(.minutes(10)))
struct ClaimTests {
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
            try db.query("EXPLAIN QUERY PLAN \(sql)").map { try $0["detail"] as String }
        }
        #expect(plan.contains { $0.contains("INDEX ") })
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
    }

    /// SQLite builds a list of three or more values in a CHECK anew for each row, which took a fifth of an enqueueing.
    @Test func noRowIsCheckedAgainstAList() async throws {
        let fixture = try StoreFixture()
        let lists = try await fixture.store.read { db in
            let tables = try db.column("SELECT name FROM sqlite_schema WHERE type = 'table'") as [String]
            #expect(tables.contains("task"))
            // A row of `forget` is rare, and its trigger does much more. That of `attached` enqueues.
            return try tables.filter { !$0.hasPrefix("sqlite_") && !["forget", "attached"].contains($0) }.filter {
                table in
                let program = "EXPLAIN INSERT INTO \(table) DEFAULT VALUES"
                return try db.query(program).contains { try $0["opcode"] == "OpenEphemeral" }
            }
        }
        #expect(lists == [])
    }
}
