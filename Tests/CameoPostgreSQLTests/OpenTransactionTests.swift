import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// What a producer's transaction does that stays open for long.
@Suite(.timeLimit(.minutes(10)))
struct OpenTransactionTests {
    /// Its number is older than the fetch, but nobody could know of the job before its commit.
    @Test func aJobSharesNoFetchThatBeganBeforeItsCommit() async throws {
        let fixture = try await StoreFixture()
        let producer = try Connection(fixture.store.url)
        try producer.run("BEGIN")
        let request = #"{"source":"file:///late.jpg","renditions":[{"width":64}]}"#
        try producer.run("INSERT INTO \(fixture.store.url.schema).job(request) VALUES ($1)", [request])
        try await fixture.enqueue()
        let first = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
        try producer.run("COMMIT")
        let late = try #require(try await fixture.store.claim(limit: 9, for: "w1").first)
        #expect(late.claim.jobID < first.claim.jobID)
        #expect(late.begun.after >= first.begun.sourceSeen)
    }

    private static func asking(for source: String) -> String {
        #"INSERT INTO job(request) VALUES ('{"source":"\#(source)","renditions":[{"width":64}]}')"#
    }

    /// Neither sees the other, and the job may even end before the forget is committed.
    @Test func aForgetFindsWhatWasAcceptedBesideIt() async throws {
        let fixture = try await StoreFixture()
        for number in 1...2 {
            try await fixture.sql(Self.asking(for: "https://a/\(number)"))
        }
        let forgetter = try Connection(fixture.store.url)
        try forgetter.run("SET search_path TO \(fixture.store.url.schema)")
        try forgetter.run("BEGIN")
        try forgetter.run(#"INSERT INTO forget(selector) VALUES ('{"prefix":"https://a/"}')"#)
        let made = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        try await fixture.store.settle(made.claim, as: .complete(Fixture.product(of: made)), timings: AttemptTimings())
        let thumbnail = try await fixture.sql("SELECT id FROM thumbnail")
        #expect(try await fixture.sql("SELECT count(*) FROM task") == "1")
        // What is asked for after it stays, and joins none of these.
        try forgetter.run(Self.asking(for: "https://a/2"))
        try forgetter.run("COMMIT")
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [3])
        #expect(try await fixture.sql("SELECT count(*) FROM thumbnail") == "0")
        #expect(try await fixture.sql("SELECT count(*) FROM forgotten WHERE name = '\(thumbnail)'") == "1")
        #expect(try await fixture.sql("SELECT thumbnails FROM forget") == "1")
        #expect(try await fixture.store.job(2).state == .cancelled)
        #expect(try await fixture.wrongCounts() == "")
    }

    @Test func aForgetWaitsForAnAcceptance() async throws {
        let fixture = try await StoreFixture()
        try await fixture.sql(Self.asking(for: "https://a/1"))
        let other = try fixture.anotherStore()
        let (accepted, accept) = AsyncStream<Void>.makeStream()
        let isForgotten = Mutex(false)
        let acceptance = Task {
            let page = try await other.read { db in try Arrival.page(db) }
            try await other.transaction { db in
                _ = try db.accept(page)
                accept.yield()
                // Nothing reaches a transaction that is open.
                let end = ContinuousClock.now + .seconds(60)
                while !isForgotten.withLock(\.self), ContinuousClock.now < end { usleep(1_000) }
            }
        }
        for await _ in accepted { break }
        try await fixture.sql(#"INSERT INTO forget(selector) VALUES ('{"source":"https://a/1"}')"#)
        // Whoever looks meanwhile does not end the forget.
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        isForgotten.withLock { $0 = true }
        try await acceptance.value
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        #expect(try await fixture.store.job(1).state == .cancelled)
        #expect(try await fixture.sql("SELECT count(*) FROM forget WHERE done_at IS NULL") == "0")
    }

    /// Between a claim's look at the queue and what it takes.
    @Test func aClaimTakesNothingThatWasForgottenSinceItsLook() async throws {
        let fixture = try await StoreFixture()
        try await fixture.sql(Self.asking(for: "https://a/1"))
        #expect(try await fixture.store.acceptPage())
        try await fixture.enqueue()
        let request = ClaimRequest(limit: 9, background: 9, kind: .usual, queues: nil, for: "w1")
        let url = fixture.store.url
        let claimed = try await fixture.store.claims.commit(.claim) { db in
            let look = ClaimOutlook.looking(for: request, now: db.now, from: nil)
            let outlook = try ClaimOutlook(db.query(look.sql, look.values))
            let forgetter = try Connection(url)
            try forgetter.run("SET search_path TO \(url.schema)")
            try forgetter.run(#"INSERT INTO forget(selector) VALUES ('{"source":"https://a/1"}')"#)
            return try db.claim(request, outlook, from: nil).0.map(\.claim.jobID)
        }
        #expect(claimed == [2])
        #expect(try await fixture.store.job(1).state == .cancelled)
        #expect(try await fixture.wrongCounts() == "")
    }
}
