import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoSQLite

/// The feed of changes.
@Suite(.timeLimit(.minutes(10)))
struct ChangeTests {
    private let fixture: StoreFixture
    private var store: SQLiteStore { fixture.store }

    init() throws {
        fixture = try StoreFixture()
    }

    /// Changes as `job state`, with the names of the states.
    private func changes() async throws -> [String] {
        try await store.read { db in
            try db.query("SELECT job_id, state FROM change ORDER BY seq").map { row in
                "\(try row["job_id"] as Int64) \(try JobState(code: row["state"]).rawValue)"
            }
        }
    }

    private func claim() async throws -> Claim { try #require(try await store.claim(limit: 1, for: "w1").first).claim }

    @Test func aRolledBackTransactionLeavesNoChange() async throws {
        struct Torn: Error {}
        try await fixture.enqueue()
        let claim = try await claim()
        await #expect(throws: StoreError.self) {
            try await store.commit(.holding(claim)) { db in
                let timings = AttemptTimings()
                try db.complete(claim, timings: timings)
                throw Torn()
            }
        }
        #expect(try await changes() == ["1 available", "1 running"])
    }

    /// The last change is kept, because cursors depend on its number.
    @Test func oldChangesAreRemovedAndTheirNumbersNeverReused() async throws {
        try await fixture.enqueue(3)
        try await store.cancelAll()
        let last = try await fixture.sql("SELECT max(seq) FROM change")
        fixture.clock.advance(seconds: 40 * StoreFixture.day)
        #expect(try await fixture.prune(Retention()).cancelled == 3)
        #expect(try await fixture.sql("SELECT seq FROM change") == last)
        try await fixture.enqueue()
        #expect(try await fixture.sql("SELECT max(seq) FROM change") == "\((Int(last) ?? 0) + 1)")
    }
}
