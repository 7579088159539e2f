import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

@Suite(.serialized, .timeLimit(.minutes(10)))
struct RetentionTests {
    /// A process that died, or was cut off from the server.
    @Test func theMaintenanceLockOfALostProcessIsTakenOver() async throws {
        let fixture = try await StoreFixture()
        let lost = try #require(try await fixture.store.maintenanceTurn())
        fixture.clock.advance(seconds: 59)
        let other = try fixture.anotherStore()
        #expect(try await other.maintenanceTurn() == nil)
        fixture.clock.advance(seconds: 2)
        // Nobody has taken it: its holder goes on, and with each step for another minute.
        _ = try await fixture.store.prune(.forever, in: lost)
        #expect(try await other.maintenanceTurn() == nil)
        fixture.clock.advance(seconds: 61)
        let turn = try #require(try await other.maintenanceTurn())
        await #expect(throws: StoreError.busy(path: fixture.store.location)) {
            try await fixture.store.prune(.forever, in: lost)
        }
        _ = try await other.prune(.forever, in: turn)
    }

    /// The next command need not wait until the lease of one that ended has run out.
    @Test func theMaintenanceLockIsGivenBackBeforeItsHolderReturns() async throws {
        let fixture = try await StoreFixture()
        let other = try fixture.anotherStore()
        for _ in 0..<20 {
            let wasFree = try await fixture.store.maintaining(within: .zero) { _ in
                try await other.maintaining(within: .zero) { _ in } == nil
            }
            #expect(wasFree == true)
            #expect(try await other.maintaining(within: .zero) { _ in } != nil, "the lock is free")
            await #expect(throws: CancellationError.self) {
                try await fixture.store.maintaining(within: .zero) { _ in throw CancellationError() }
            }
            #expect(try await other.maintaining(within: .zero) { _ in } != nil, "the lock is free")
        }
    }

    /// As an export does, which only reads.
    @Test func theMaintenanceLockOutlivesItsLeaseWhileItsHolderWorks() async throws {
        let fixture = try await StoreFixture()
        let other = try fixture.anotherStore()
        let isDone: Void? = try await fixture.store.maintaining(
            within: .zero,
            renewingEvery: .milliseconds(5)
        ) { _ in
            for _ in 0..<3 {
                let before = Int(try await fixture.sql("SELECT lease_until FROM maintenance")) ?? 0
                fixture.clock.advance(seconds: 59)
                try await eventually("the lease was extended") {
                    Int(try await fixture.sql("SELECT lease_until FROM maintenance")) == before + 59_000
                }
                #expect(try await other.maintenanceTurn() == nil)
            }
        }
        #expect(isDone != nil)
    }

    /// The history is in weeks: those to come are made, and past ones dropped when they are empty.
    @Test func weeksOfHistoryComeAndGo() async throws {
        let fixture = try await StoreFixture()
        func weeks() async throws -> [Substring] {
            let names =
                "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'outcome'::regclass ORDER BY 1"
            return try await fixture.sql(names).split(separator: "\n").filter { $0 != "outcome_other" }
        }
        let turn = try await fixture.store.freeTurn()
        _ = try await fixture.store.prune(Retention(), in: turn)
        #expect(try await weeks().count == 5, "this week and four more")
        try await fixture.enqueue(2)
        _ = try await fixture.store.cancel(1)
        #expect(try await fixture.sql("SELECT count(*) FROM outcome_other") == "0")
        fixture.clock.advance(seconds: 6 * 86_400)
        _ = try await fixture.store.cancel(2)
        let before = try await weeks()
        // Jobs of the first week are still kept.
        _ = try await fixture.store.prune(Retention(), in: turn)
        #expect(try await Set(weeks()).isSuperset(of: before))
        fixture.clock.advance(seconds: 30 * 86_400)
        #expect(try await fixture.store.prune(Retention(), in: turn).cancelled == 2)
        let after = try await weeks()
        #expect(after.count == 5 && Set(after).isDisjoint(with: before.prefix(1)))
        let attempts = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'earlier_attempt'::regclass"
        #expect(try await fixture.sql(attempts) == "6")
    }
}
