import CameoModel
import CameoStore
import Foundation
import GRDB
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
            try Row.fetchAll(db, sql: "SELECT job_id, state FROM change ORDER BY seq").map { row in
                "\(row[0] as Int64) \(try JobState(code: row[1]).rawValue)"
            }
        }
    }

    private func claim() async throws -> Claim { try #require(try await store.claim(limit: 1, for: "w1").first).claim }

    @Test func everyStateChangeAppearsOnceInCommitOrder() async throws {
        let (now, failure) = (fixture.clock.storeClock.now(), JobFailure(.sourceTimeout, at: .fetch, "slow"))
        let registration = try await fixture.register("w1")
        try await fixture.enqueue { $0.runAt = now.addingTimeInterval(60) }
        fixture.clock.advance(seconds: 60)
        try await store.fail(
            try await claim(),
            with: failure,
            retryAt: now.addingTimeInterval(90),
            timings: AttemptTimings()
        )
        fixture.clock.advance(seconds: 30)
        try await store.release(try await claim())
        _ = try await store.snooze(1, until: now.addingTimeInterval(100))
        _ = try await store.retry(1)
        try await store.fail(try await claim(), with: failure, retryAt: nil, timings: AttemptTimings())
        _ = try await store.retry(1)
        _ = try await claim()
        fixture.clock.advance(seconds: 31)
        #expect(try await store.rescueExpired(except: "me").rescued == 1)
        try await store.complete(try await claim(), keeping: [], seen: nil, timings: AttemptTimings())
        #expect(
            try await changes() == [
                "1 scheduled", "1 available", "1 running", "1 retryable", "1 available", "1 running", "1 available",
                "1 scheduled", "1 available", "1 running", "1 discarded", "1 available", "1 running", "1 available",
                "1 running", "1 completed",
            ]
        )
        try await store.deregister(registration)
    }

    @Test func acceptanceRefusalSupersedingAndCancellationAppear() async throws {
        try await fixture.enqueue()
        let stranger = try fixture.stranger()
        try await stranger.write { db in
            let request = StoreFixture.request("file:///pictures/0.jpg").json.canonicalText
            let bad = #"{"source":"a","renditions":[{"width":1}],"priority":1000}"#
            for request in [request, bad] {
                try db.execute(sql: "INSERT INTO job(request) VALUES (?)", arguments: [request])
            }
        }
        _ = try await store.cancel(1)
        try await fixture.enqueue(2)
        try await store.cancelAll()
        // Calls that change no state add nothing.
        _ = try await store.cancel(1)
        #expect(
            try await changes() == [
                "1 available", "1 cancelled", "2 available", "3 discarded", "4 available", "5 available", "2 cancelled",
                "4 cancelled", "5 cancelled",
            ]
        )
    }

    @Test func aRolledBackTransactionLeavesNoChange() async throws {
        struct Torn: Error {}
        try await fixture.enqueue()
        let claim = try await claim()
        await #expect(throws: StoreError.self) {
            try await store.commitCounting { db, ledger in
                let timings = AttemptTimings()
                _ = try SQLiteStore.settle(claim, as: .completed, failure: nil, timings: timings, now: 1, &ledger, db)
                throw Torn()
            }
        }
        #expect(try await changes() == ["1 available", "1 running"])
    }

    /// Each job's changes are consecutive, whichever process makes them.
    @Test func manyProcessesWriteOneFeed() async throws {
        try await fixture.enqueue(200)
        let stores = try (0..<4).map { _ in try fixture.anotherStore() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, store) in stores.enumerated() {
                group.addTask {
                    while case let jobs = try await store.claim(limit: 7, for: "w\(index)"), !jobs.isEmpty {
                        for job in jobs {
                            try await store.complete(job.claim, keeping: [], seen: nil, timings: AttemptTimings())
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let of = Dictionary(grouping: try await changes().map { $0.split(separator: " ") }) { $0[0] }
        #expect(of.count == 200)
        #expect(of.values.allSatisfy { $0.map { $0[1] } == ["available", "running", "completed"] })
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
