import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

/// What the embedded engine keeps about hooks, beyond the conformance suite.
@Suite(.timeLimit(.minutes(10)))
struct HookTests {
    /// Damage that another program could do; afterwards both jobs' ends reach the hook.
    @Test(arguments: [
        "UPDATE delivery SET status = 1, worker = 'nobody'", "UPDATE task SET hooked = 0", "DELETE FROM delivery",
        "DELETE FROM job_hook WHERE job_id = 3",
    ])
    func damageIsFoundAndRepaired(damage: String) async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        try await fixture.enqueue(2) { $0.hook = "site" }
        try await fixture.enqueue { $0.hook = "other" }
        _ = try await fixture.store.cancel(1)
        _ = try await fixture.sql(damage)
        let found = try #require(try await fixture.store.check().first { $0.subject == "hooks" })
        #expect(found.severity == .error && found.message.contains("--repair"), "\(found.message)")
        let mended = try await fixture.store.repair(in: try await fixture.store.freeTurn())
        #expect(mended.map(\.subject) == ["hooks"])
        #expect(try await fixture.store.check().allSatisfy { $0.severity != .error })
        _ = try await fixture.store.cancel(2)
        let deliveries = try await fixture.store.claimDeliveries(["site": 9], for: "w1")
        #expect(deliveries.map(\.jobID) == [1, 2])
    }

    @Test func aCopyHasNoClaimedDeliveries() async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        try await fixture.enqueue { $0.hook = "site" }
        _ = try await fixture.store.cancel(1)
        let claimed = try await fixture.store.claimDeliveries(["site": 1], for: "w1")
        try await fixture.store.note(hooks: ["site"], of: "w1")
        let copy = fixture.folder.path("copy")
        _ = try await fixture.store.backUp(to: copy, in: try await fixture.store.freeTurn())
        let store = try SQLiteStore(at: copy, clock: fixture.clock.storeClock)
        let report = try #require(try await store.hooks(failures: 1).first)
        #expect((report.waiting, report.running, report.isKnown) == (1, 0, false))
        #expect(try await store.check().allSatisfy { $0.severity != .error })
        #expect(claimed.count == 1)
    }

    /// No row and no statement for jobs that name no hook.
    @Test func aJobWithoutAHookTouchesNoTableOfHooks() async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        let statements = Mutex<[String]>([])
        try await fixture.store.commit { db in
            db.connection.trace { sql in statements.withLock { $0.append(sql) } }
        }
        try await fixture.enqueue(2)
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        try await fixture.store.complete(
            job.claim,
            storing: StoreFixture.rendered(job),
            from: StoreFixture.provenance(),
            timings: AttemptTimings()
        )
        _ = try await fixture.store.cancel(2)
        #expect(
            statements.withLock { $0.contains { $0.contains("INSERT INTO outcome") } },
            "the trace sees what is written"
        )
        #expect(statements.withLock { $0.filter { $0.contains("job_hook") || $0.contains("delivery") } } == [])
    }
}
