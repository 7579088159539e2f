import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// The feed of changes.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ChangeTests {
    private let fixture: StoreFixture
    private var store: PostgreSQLStore { fixture.store }

    init() async throws {
        fixture = try await StoreFixture()
    }

    /// Changes as `job state`, with the names of the states.
    private func changes() async throws -> [String] {
        try await store.changes(since: 0, limit: .max).map { "\($0.job) \($0.state.rawValue)" }
    }

    private func claim() async throws -> Claim { try #require(try await store.claim(limit: 1, for: "w1").first).claim }

    @Test func aRolledBackTransactionLeavesNoChangeAndNoGap() async throws {
        struct Torn: Error {}
        try await fixture.enqueue()
        let claim = try await claim()
        await #expect(throws: StoreError.self) {
            let use = ClaimUse(claim: claim, timings: { AttemptTimings() })
            try await store.writes.commit(.begun, using: use) { db in
                try db.complete(claim, timings: AttemptTimings())
                try db.flush()
                throw Torn()
            }
        }
        #expect(try await changes() == ["1 available", "1 running"])
        try await store.complete(claim)
        #expect(try await store.changes(since: 0, limit: 9).map(\.cursor) == [1, 2, 3])
    }

    /// A program that keeps a transaction open holds up no others, and its own change comes when it commits.
    @Test func aTransactionThatStaysOpenHoldsUpNothing() async throws {
        try await fixture.enqueue()
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let release = DispatchSemaphore(value: 0)
        defer { release.signal() }  // also where something throws: the other would wait for ever
        let other = try fixture.anotherStore()
        async let held: Void = other.transaction { db in
            try db.execute("INSERT INTO new_change(jobs, states, at) VALUES ('{77}', '{4}', 0)")
            enter.yield()
            release.wait()
        }
        _ = await entered.first { _ in true }
        _ = try await store.cancel(1)
        #expect(try await changes() == ["1 available", "1 cancelled"])
        let cursor = try await store.lastChange()
        release.signal()
        try await held
        #expect(try await store.changes(since: cursor, limit: 9).map(\.job) == [77])
    }

    /// Readers number the changes while workers make them.
    @Test func eachReaderSeesEveryChangeOnce() async throws {
        try await fixture.enqueue(120)
        let store = store
        let feeds = try await withThrowingTaskGroup(of: [JobChange].self) { group in
            for _ in 0..<3 {
                let reader = try fixture.anotherStore()
                group.addTask {
                    var seen: [JobChange] = []
                    while seen.count < 360 {
                        try Task.checkCancellation()
                        seen += try await reader.changes(since: seen.last?.cursor ?? 0, limit: 50)
                    }
                    return seen
                }
            }
            for worker in 0..<3 {
                let own = try fixture.anotherStore()
                group.addTask {
                    while case let jobs = try await own.claim(limit: 5, for: "w\(worker)"), !jobs.isEmpty {
                        for job in jobs { try await own.complete(job.claim) }
                    }
                    return []
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }.filter { !$0.isEmpty }
        }
        try #require(feeds.count == 3)
        for feed in feeds {
            #expect(feed.map(\.cursor) == Array(1...360))
            #expect(feed == feeds[0])
        }
        #expect(try await store.lastChange() == 360)
    }

    /// No scan passes over the rows that were moved: somebody who copies the database keeps them from being vacuumed.
    @Test func theMarkFollowsWhatIsNumberedButPassesNoOpenTransaction() async throws {
        func low() async throws -> Int { Int(try await fixture.sql("SELECT low FROM feed")) ?? -1 }
        try await fixture.enqueue(3)
        try await store.numberChanges()
        let (entered, enter) = AsyncStream<Void>.makeStream()
        let release = DispatchSemaphore(value: 0)
        defer { release.signal() }  // also where something throws: the other would wait for ever
        let other = try fixture.anotherStore()
        async let held: Void = other.transaction { db in
            try db.execute("INSERT INTO new_change(jobs, states, at) VALUES ('{77}', '{4}', 0)")
            enter.yield()
            release.wait()
        }
        _ = await entered.first { _ in true }
        for _ in 0..<3 {
            try await fixture.enqueue()
            try await store.numberChanges()
        }
        #expect(try await low() < 2, "the second entry is the open transaction's")
        release.signal()
        try await held
        // Transactions of other tests end some time too.
        while try await low() < 5 {
            try Task.checkCancellation()
            try await fixture.enqueue()
            try await store.numberChanges()
        }
        let changes = try await store.changes(since: 0, limit: 9_999)
        #expect(changes.map(\.cursor) == (0..<changes.count).map { Int64($0 + 1) } && changes.contains { $0.job == 77 })
    }

    /// Their transactions' numbers are lower than those of the server that the tables came from.
    @Test func tablesThatWereCopiedFromAnotherServerGoOn() async throws {
        try await fixture.enqueue(3)
        try await store.numberChanges()
        try await fixture.sql("UPDATE feed SET next_xid = '9000000000000000'")
        while try await Int(fixture.sql("SELECT low FROM feed")) ?? 0 < 2 {
            try Task.checkCancellation()
            try await fixture.enqueue()
            try await store.numberChanges()
        }
    }

    /// More than one transaction numbers: entries of many changes, and many entries.
    @Test func aLongBacklogIsNumberedInItsOrder() async throws {
        try await fixture.sql(
            """
            INSERT INTO new_change(jobs, states, at)
            SELECT jobs, array_fill(1, ARRAY[cardinality(jobs)]), 0
            FROM (
              SELECT ARRAY(
                SELECT entry * 10000 + place
                FROM generate_series(0, CASE WHEN entry IN (3, 700) THEN 6000 ELSE 1 END) AS place) AS jobs
              FROM generate_series(1, 1200) AS entry ORDER BY entry) AS made
            """
        )
        let before = try await store.version()
        let changes = try await store.changes(since: 0, limit: .max)
        // A page may begin and end within a transaction's.
        for start in [0, 3, 4_000, 6_005, 8_000] {
            let page = try await store.changes(since: Int64(start), limit: 2_500)
            #expect(page == Array(changes.dropFirst(start).prefix(2_500)))
        }
        #expect(changes.map(\.cursor) == Array(1...Int64(1_198 * 2 + 2 * 6_001)))
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.job < $1.job })
        #expect(try await store.version() == before, "numbering is no news")
        #expect(try await fixture.sql("SELECT count(*) FROM new_change") == "0")
    }

    /// A program that only reads the store cannot number what it wants to read.
    @Test func aWorkersSweepNumbersWhatNobodyHasRead() async throws {
        try await fixture.register()
        try await fixture.enqueue()
        let reader = try fixture.reader()
        fixture.clock.advance(seconds: 1)
        try await eventually("a sweep numbers the change") {
            _ = try await store.sweep(for: "w1")
            return try await !reader.changes(since: 0, limit: 9).isEmpty
        }
        await store.finish()
        #expect(try await fixture.sql("SELECT count(*) FROM new_change") == "0")
    }

    @Test func aReaderWithoutTheRightToWriteSeesWhatOthersHaveNumbered() async throws {
        try await fixture.enqueue()
        let reader = try fixture.reader()
        #expect(try await reader.changes(since: 0, limit: 9).isEmpty)
        try await store.numberChanges()
        #expect(try await reader.changes(since: 0, limit: 9).map(\.job) == [1])
    }

    /// What waits for a job looks again when the version is another.
    @Test func aNumberIsNewsToWhoeverCannotGiveIt() async throws {
        let reader = try fixture.reader()
        try await fixture.enqueue()
        let entered = (own: try await store.version(), readers: try await reader.version())
        try await store.numberChanges()
        #expect(try await store.version() == entered.own)
        #expect(try await reader.version() > entered.readers)
    }

    @Test func oldChangesAreRemovedAndTheirNumbersNeverReused() async throws {
        try await fixture.enqueue(3)
        try await store.cancelAll()
        let last = try await store.lastChange()
        fixture.clock.advance(seconds: 40 * StoreFixture.day)
        #expect(try await fixture.prune(Retention()).cancelled == 3)
        let kept = try await store.changes(since: 0, limit: 9)
        #expect(kept.map(\.cursor) == Array(last - 2...last), "those of the last transaction: others number from them")
        #expect(try await store.lastChange() == last)
        try await fixture.enqueue()
        #expect(try await store.changes(since: 0, limit: 9).map(\.cursor) == Array(last - 2...last + 1))
    }
}
