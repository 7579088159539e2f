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

    /// A row of an attached table that its program is changing is passed over, and looked at once that is over.
    @Test func aProgramThatHoldsARowHoldsNobodyUp() async throws {
        let fixture = try await StoreFixture()
        let (table, mirrored) = ("\(fixture.schema)_guest.users", "SELECT job_id, code FROM attached")
        try await fixture.sql(
            "CREATE SCHEMA \(fixture.schema)_guest; CREATE TABLE \(table)(id integer PRIMARY KEY, picture text)"
        )
        let wanted = WantedAttachment(
            table: table,
            column: "picture",
            key: "id",
            kind: .url,
            renditions: [Rendition(name: "small", width: 64)]
        )
        let attachment = try await fixture.store.attach(wanted)
        _ = try await fixture.store.fillAttachment(attachment.name)
        try await fixture.sql("INSERT INTO \(table) VALUES (1, 'initials:A')")
        try await fixture.store.acceptAll()
        let program = try Connection(fixture.store.url)
        func hold() throws {
            try program.run("BEGIN")
            try program.run("SET LOCAL search_path TO \(fixture.schema)")
            try program.run("SELECT 1 FROM attached FOR UPDATE")
        }

        // Its thumbnail was forgotten with another row.
        #expect(try await fixture.store.cancel(1) == .available)
        try await fixture.sql("INSERT INTO attached_gone(source, horizon) VALUES ('initials:A', '3')")
        try hold()
        try await fixture.store.settleAttachments()
        #expect(try await fixture.sql(mirrored) == "1|")
        #expect(try await fixture.sql("SELECT source FROM attached_gone") == "initials:A")
        try program.run("COMMIT")
        // Other tests have transactions on the server that are older than the note.
        try await eventually("it is asked for again") {
            try await fixture.store.settleAttachments()
            return try await fixture.sql(mirrored) == "2|"
        }
        try await fixture.store.acceptAll()

        // How it failed is kept before the job goes.
        try await fixture.register()
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
        try await fixture.store.settle(job.claim, as: .discard(failure), timings: AttemptTimings())
        fixture.clock.advance(seconds: 86_400)
        var retention = Retention.forever
        retention.discarded = .zero
        try hold()
        #expect(try await fixture.prune(retention).discarded == 0)
        try program.run("COMMIT")
        #expect(try await fixture.prune(retention).discarded == 1)
        #expect(try await fixture.sql(mirrored) == "2|source.timeout")
    }

    /// Where a transaction of ours and one of a program wait for each other, ours begins again.
    @Test func aProgramIsNotTheOneThatFails() async throws {
        let fixture = try await StoreFixture()
        try await fixture.sql("INSERT INTO total VALUES ('ours', 0), ('theirs', 0)")
        func locking(_ name: String) -> String { "UPDATE total SET value = value + 1 WHERE name = '\(name)'" }
        let (program, watcher) = (try Connection(fixture.store.url), try Connection(fixture.store.url))
        for connection in [program, watcher] { try connection.run("SET search_path TO \(fixture.schema)") }
        let waits = "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE $1::integer = ANY(pg_blocking_pids(pid)))"
        try program.run("BEGIN")
        try program.run(locking("theirs"))
        let (ours, theirs) = (locking("ours"), locking("theirs"))
        let work = Task {
            try await fixture.store.transaction { db in
                try db.execute(ours, [])
                try db.execute(theirs, [])
            }
        }
        let process = program.process
        try await eventually("we wait for the program") {
            try watcher.run(waits, [process]).rows.first?[0] ?? false
        }
        try program.run(ours)
        try program.run("COMMIT")
        try await work.value
        #expect(try await fixture.sql("SELECT sum(value) FROM total WHERE name IN ('ours', 'theirs')") == "4")
    }
}
