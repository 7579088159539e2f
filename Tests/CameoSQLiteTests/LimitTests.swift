import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Concurrency limits of queues and keys.
@Suite(.timeLimit(.minutes(10)))
struct LimitTests {
    private func openLanes(_ fixture: StoreFixture) async throws -> Int {
        try await fixture.store.read { db in
            try db.value("SELECT count(*) FROM lane WHERE head IS NOT NULL AND shut = 0") as Int? ?? 0
        }
    }

    @Test func aFullKeyShutsItsLane() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(50) { $0.concurrencyKey = "k" }
        #expect(try await openLanes(fixture) == 1)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").count == 1)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        #expect(try await openLanes(fixture) == 0, "a claim scans none of its jobs")
    }

    /// Idle workers claim often, and a writer may hold the lock for long.
    @Test func aClaimThatFindsAFullKeyTakesNoLock() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(2) { $0.concurrencyKey = "k" }
        #expect(try await fixture.store.claim(limit: 1, for: "w1").count == 1)
        #expect(try await fixture.store.claim(limit: 1, for: "w1").isEmpty, "and leaves nothing to decide")
        let stranger = try fixture.stranger()
        try stranger.run("BEGIN IMMEDIATE")
        #expect(try await fixture.store.claim(limit: 1, for: "w1").isEmpty)
        try stranger.run("ROLLBACK")
    }

    @Test func checkFindsAWrongCount() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(1) { $0.concurrencyKey = "k" }
        try await fixture.store.commit { db in try db.execute("UPDATE key SET running = 7") }
        let finding = try #require(try await fixture.store.check().first { $0.subject == "limits" })
        #expect(finding.severity == .error && finding.message.contains("counts 7 running jobs and has 0"))
        #expect(try await fixture.store.claim(limit: 1, for: "w1").isEmpty)
        _ = try await fixture.store.repair(in: try await fixture.store.freeTurn())
        #expect(try await fixture.store.claim(limit: 1, for: "w1").count == 1)
    }

    @Test func aKeyWithRoomButShutLanesIsFoundAndRepaired() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(1) { $0.concurrencyKey = "k" }
        _ = try await fixture.sql("UPDATE lane SET shut = 1")
        #expect(try await fixture.store.claim(limit: 1, for: "w1").isEmpty)
        let finding = try #require(try await fixture.store.check().first { $0.subject == "limits" })
        #expect(finding.severity == .error && finding.message.contains("the concurrency key k has room"))
        _ = try await fixture.store.repair(in: try await fixture.store.freeTurn())
        #expect(try await fixture.store.claim(limit: 1, for: "w1").count == 1)
    }
}
