import CLinux
import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Who of many processes claims.
@Suite(.timeLimit(.minutes(10)))
struct ClaimTurnTests {
    @Test func oneProcessAtATimeHasTheTurn() async throws {
        let fixture = try StoreFixture()
        let (one, other) = (try turn(of: fixture.store), try turn(of: fixture.store))
        var held = one.take()
        #expect(held != nil)
        #expect(one.take() == nil && other.take() == nil)
        withExtendedLifetime(held) {}
        held = nil
        held = other.take()
        #expect(held != nil)
        #expect(one.take() == nil)
        withExtendedLifetime(held) {}
    }

    @Test func aProcessThatHasDiedLosesItsTurn() async throws {
        let fixture = try StoreFixture()
        var dead: FileLock? = try turn(of: fixture.store).take()
        #expect(dead != nil)
        withExtendedLifetime(dead) {}
        dead = nil
        #expect(try turn(of: fixture.store).take() != nil)
    }

    @Test func onlyAClaimAfterOneThatFoundNothingNeedsTheTurnAndNotForLong() async throws {
        let fixture = try StoreFixture()
        let turn = try turn(of: fixture.store)
        #expect(!turn.isNeeded(after: 0))
        turn.note(found: false)
        #expect(turn.isNeeded(after: 0) && turn.isNeeded(after: 999) && !turn.isNeeded(after: 1_000))
        turn.note(found: true)
        #expect(!turn.isNeeded(after: 0))
    }

    /// Another process has the turn. A store that has claimed in vain waits for it, and so finds that the only job has
    /// been claimed meanwhile by one that needs no turn.
    @Test func aClaimThatWaitsLooksWhetherAnythingIsLeft() async throws {
        let fixture = try StoreFixture()
        let waiting = try fixture.anotherStore()
        #expect(try await waiting.claim(limit: 1, for: "w1").isEmpty)
        try await fixture.enqueue()
        let holder = try #require(try turn(of: fixture.store).take())
        defer { withExtendedLifetime(holder) {} }
        async let late = waiting.claim(limit: 1, for: "w1")
        let early = try await fixture.store.claim(limit: 1, for: "w2")
        #expect(try await early.count + late.count == 1)
    }

    @Test func aProcessThatKeepsTheTurnHoldsUpNobodyForGood() async throws {
        let fixture = try StoreFixture()
        #expect(try await fixture.store.claim(limit: 1, for: "w1").isEmpty)
        let frozen = try #require(try turn(of: fixture.store).take())
        defer { withExtendedLifetime(frozen) {} }
        try await fixture.enqueue()
        #expect(try await fixture.store.claim(limit: 1, for: "w1").count == 1)
        #expect(try turn(of: fixture.store).take() == nil)
    }

    /// The turn as another process sees it.
    private func turn(of store: SQLiteStore) throws -> ClaimTurn { try ClaimTurn(store.directory.claimLock) }
}
