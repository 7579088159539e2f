import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// What the engine keeps about hooks, beyond the conformance suite.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct HookTests {
    /// What one is claiming, the others pass over without waiting.
    @Test func workersOfManyHostsClaimEachDeliveryOnce() async throws {
        let fixture = try await StoreFixture()
        for worker in 0..<4 { try await fixture.register("w\(worker)") }
        try await fixture.enqueue(120) { $0.hook = "site" }
        try await fixture.store.cancelAll()
        let claimed = try await withThrowingTaskGroup(of: [ClaimedDelivery].self) { group in
            for worker in 0..<4 {
                let store = try fixture.anotherStore()
                group.addTask {
                    var claimed: [ClaimedDelivery] = []
                    while case let some = try await store.claimDeliveries(["site": 7], for: "w\(worker)"), !some.isEmpty
                    {
                        #expect(some.map(\.number) == some.map(\.number).sorted(), "the oldest first")
                        for delivery in some { try await store.settle(delivery, as: .delivered) }
                        claimed += some
                    }
                    return claimed
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claimed.compactMap(\.jobID).sorted() == Array(1...120))
        let report = try #require(try await fixture.store.hooks(failures: 1).first)
        #expect((report.delivered, report.waiting, report.running) == (120, 0, 0))
    }

    /// The delivery is entered with the end of the job, or not at all.
    @Test func aSettlementThatIsRolledBackEntersNoDelivery() async throws {
        struct Torn: Error {}
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await fixture.enqueue { $0.hook = "site" }
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        await #expect(throws: StoreError.self) {
            let use = ClaimUse(claim: job.claim, timings: { AttemptTimings() })
            try await fixture.store.writes.commit(.begun, using: use) { db in
                try db.complete(job.claim, timings: AttemptTimings())
                try db.flush()
                throw Torn()
            }
        }
        #expect(try await fixture.sql("SELECT count(*) FROM delivery") == "0")
        try await fixture.store.complete(job)
        #expect(try await fixture.store.claimDeliveries(["site": 1], for: "w1").map(\.jobID) == [1])
    }

    @Test func hooksOfAWorkerThatIsGoneAreUnknown() async throws {
        let fixture = try await StoreFixture()
        try await fixture.register()
        try await fixture.store.note(hooks: ["site", "site", "other"], of: "w1")
        #expect(try await fixture.store.hooks(failures: 1).map(\.name) == ["other", "site"])
        try await fixture.store.deregister("w1")
        #expect(try await fixture.store.hooks(failures: 1).isEmpty)
        // A worker that was removed meanwhile.
        try await fixture.store.note(hooks: ["site"], of: "w1")
        #expect(try await fixture.store.hooks(failures: 1).isEmpty)
    }
}
