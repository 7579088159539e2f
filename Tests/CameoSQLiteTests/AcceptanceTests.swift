import CameoModel
import CameoStore
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

/// The acceptance of rows inserted by SQL.
@Suite(.timeLimit(.minutes(10)))
struct AcceptanceTests {
    let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    var store: SQLiteStore { fixture.store }

    static func request(_ name: String, _ fields: String = "") -> String {
        #"{"source":"file:///\#(name).jpg","renditions":[{"width":64}]\#(fields)}"#
    }

    static func long(_ data: String, _ fields: String = "") -> String {
        #"{"source":"data:,\#(data)","renditions":[{"width":64}]\#(fields)}"#
    }

    /// Inserts all requests in one transaction, like a producer without Cameo's code.
    func insert(_ requests: [String]) throws {
        try fixture.stranger().write { db in
            for request in requests {
                try db.execute(sql: "INSERT INTO job(request) VALUES (?)", arguments: [request])
            }
        }
    }

    func accepted() async throws -> Int64 { try await store.read { db in try SQLiteStore.acceptedThrough(db) } }

    func refusal(_ id: Int64) async throws -> String? {
        let job = try await store.job(id)
        guard job.state == .discarded, job.failure?.code == .requestInvalid, job.attempt == 0 else { return nil }
        return job.failure?.message
    }

    func expectSound() async throws {
        let findings = try await store.check().filter { $0.severity == .error && $0.subject != "attempts" }
        #expect(findings == [])
    }

    // MARK: - Poison

    /// Regression: the row stopped all claims in the store for ever.
    @Test func aConcurrencyKeyWithALoneSurrogateEndsOnlyItsOwnJob() async throws {
        try insert([
            Self.request("a"), Self.request("b", #","concurrencyKey":"\ud800""#), Self.request("c"),
        ])
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1, 3])
        #expect(try await refusal(2) != nil)
        #expect(try await fixture.enqueue()[0].outcome == .accepted)
        try await expectSound()
    }

    /// Regression: their combined requests exceeded the limit of one, so no claim, enqueue or rescue succeeded.
    @Test func twoDuplicatesOfAlmostAMebibyteEachAreOneJob() async throws {
        let pad = String(repeating: "x", count: 1_048_400)
        let duplicates = ["one", "two"].map { Self.long(pad, #","batch":"\#($0)""#) }
        try #require(duplicates.allSatisfy { (1_048_000...1_048_576).contains($0.utf8.count) })
        try insert(duplicates + [Self.request("b")])
        let registration = try await fixture.register("w1")
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1, 3])
        #expect(try await store.job(2).supersededBy == 1)
        #expect(try await refusal(1) == nil)
        #expect(try await refusal(2) == nil)
        #expect(try await store.batch("two").count(.running) == 1)
        fixture.clock.advance(seconds: 31)
        #expect(try await store.rescueExpired(except: "me").rescued == 2)
        #expect(try await fixture.enqueue()[0].outcome == .accepted)
        try await store.deregister(registration)
        try await expectSound()
    }

    // MARK: - Order and pages

    @Test func rowsAreAcceptedInTheOrderOfTheirIds() async throws {
        try insert([Self.request("a"), Self.request("b"), Self.request("a"), Self.request("b")])
        #expect(try await store.acceptArrivals())
        #expect(try await !store.acceptArrivals())
        #expect(try await fixture.sql("SELECT group_concat(job_id || ' ' || state) FROM change") == "1 1,2 1,3 6,4 6")
        #expect(try await [store.job(3), store.job(4)].map(\.supersededBy) == [1, 2])
    }

    @Test func aPageIsBoundedByRowsAndBytes() async throws {
        try insert((0..<700).map { Self.request("\($0)") })
        #expect(try await store.acceptArrivals())
        let first = try await accepted()
        #expect((1...500).contains(first))
        while try await store.acceptArrivals() {}
        #expect(try await accepted() == 700)
        let pad = String(repeating: "x", count: 1_000_000)
        try insert((0..<12).map { Self.long("\($0)\(pad)") })
        #expect(try await store.acceptArrivals())
        #expect(try await accepted() < 712)
        while try await store.acceptArrivals() {}
        #expect(try await store.status().count(.available) == 712)
        #expect(try await fixture.sql("SELECT count(*) FROM task") == "712")
    }

    /// Rows that take long to read do not delay claims.
    @Test func aPageThatTakesLongEndsEarly() async throws {
        try insert((0..<10).map { Self.request("\($0)") })
        let clock = fixture.clock.storeClock
        let time = Mutex(Int64(0))
        let ticking = StoreClock(
            now: clock.now,
            uptime: {
                time.withLock { time in
                    time += 20
                    return time
                }
            }
        )
        #expect(
            try await SQLiteStore(at: fixture.path, clock: ticking).claim(limit: 9, for: "w1").map(\.claim.jobID) == [
                1, 2, 3,
            ]
        )
        #expect(try await accepted() == 3)
        #expect(try await store.claim(limit: 9, for: "w1").count == 7)
    }

    /// A claim continues after a page whose rows are all scheduled for later.
    @Test func aClaimContinuesAfterScheduledRows() async throws {
        try insert(
            (0..<1_100).map { Self.request("\($0)", #","runAt":"2090-01-01T00:00:00Z""#) } + [Self.request("now")]
        )
        #expect(try await store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [1_101])
    }

    @Test func manyProcessesAcceptEachRowOnce() async throws {
        try insert((0..<2_000).map { Self.request("\($0)") })
        let stores = try (0..<4).map { _ in try fixture.anotherStore() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores { group.addTask { while try await store.acceptArrivals() {} } }
            try await group.waitForAll()
        }
        let counts = "SELECT count(*), count(DISTINCT job_id), (SELECT count(*) FROM task) FROM change"
        #expect(try await fixture.sql(counts) == "2000|2000|2000")
        #expect(try await fixture.sql("SELECT available FROM queue_count") == "2000")
    }

    /// Another process accepts rows between the read and the accepting transaction.
    @Test(arguments: [true, false])
    func rowsAcceptedByAnotherProcessMeanwhileAreLeftAlone(isThrough: Bool) async throws {
        try insert([Self.request("a"), Self.request("b")])
        let ended = """
            INSERT INTO queue(id, name) VALUES (1, 'default');
            UPDATE queue_count SET cancelled = 1;
            INSERT INTO outcome(id, state, queue, priority, available_at, attempt, max_attempts, crash_count, finalized_at)
              VALUES (1, 6, 1, 0, 0, 0, 5, 0, 1);
            """
        let note = isThrough ? "UPDATE sequence SET value = 2 WHERE name = 'accepted';" : ""
        let other = try fixture.store(interruptedBy: ended + note)
        #expect(try await other.acceptArrivals())
        #expect(try await fixture.sql("SELECT group_concat(id) FROM task") == (isThrough ? "" : "2"))
        #expect(try await accepted() == 2)
    }

    /// Cameo's own enqueuers do not wait for unaccepted rows, and their own rows are not accepted twice.
    @Test func anEnqueuersJobsAreAcceptedAtOnce() async throws {
        try await fixture.enqueue(3)
        #expect(try await accepted() == 3)
        #expect(try await !store.read { db in try SQLiteStore.hasArrivals(db) })
        try insert([Self.request("a")])
        let text = Self.request("b")
        // Like an enqueuer that read before that INSERT.
        try await store.commit { db in
            try db.execute(sql: "INSERT INTO job(request) VALUES (?)", arguments: [text])
            guard case .success(let new) = SQLiteStore.parse(Data(text.utf8)) else { return }
            var ledger = Ledger(now: 0)
            try SQLiteStore.accept(new, as: 5, createdAt: 0, now: 0, &ledger, db)
            try ledger.post(db)
        }
        #expect(try await accepted() == 3)
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID).sorted() == [1, 2, 3, 4, 5])
        while try await store.acceptArrivals() {}
        #expect(try await accepted() == 5)
        try await expectSound()
    }

    // MARK: - Unaccepted rows are visible

    @Test func unacceptedRowsAreVisibleEverywhere() async throws {
        try insert([
            Self.request("a", #","queue":"web","batch":"b","priority":7,"maxAttempts":2"#),
            Self.request("b", #","runAt":"2090-01-31T12:00:00.250+02:00","batch":"b""#),
            Self.request("c"),
        ])
        let views = "SELECT id, state, queue, priority, max_attempts, source FROM job_status ORDER BY id"
        #expect(
            try await fixture.sql(views).split(separator: "\n") == [
                "1|available|web|7|2|file:///a.jpg", "2|scheduled|default|0|5|file:///b.jpg",
                "3|available|default|0|5|file:///c.jpg",
            ]
        )
        let batch = "SELECT batch, id, state FROM batch_status ORDER BY id"
        #expect(try await fixture.sql(batch).split(separator: "\n") == ["b|1|available", "b|2|scheduled"])
        let status = try await store.status()
        #expect((status.count(.available), status.count(.scheduled)) == (2, 1))
        #expect(status.queues.map { "\($0.name) \($0.jobs[.available] ?? 0)" } == ["default 1", "web 1"])
        #expect(try await store.unfinishedJobs(queues: nil) == 2)
        #expect(try await store.jobs(JobFilter()).map(\.id) == [3, 2, 1])
        for (change, ids) in [
            ({ $0.queue = "web" }, [1]), ({ $0.states = [.scheduled] }, [2]), ({ $0.batch = "b" }, [2, 1]),
            ({ $0.sourcePrefix = "file:///c" }, [3]), ({ $0.states = [.running] }, []),
        ] as [((inout JobFilter) -> Void, [Int64])] {
            var filter = JobFilter()
            change(&filter)
            #expect(try await store.jobs(filter).map(\.id) == ids)
        }
        let report = try await store.batch("b")
        #expect((report.total, report.count(.available), report.count(.scheduled)) == (2, 1, 1))
        #expect(try await store.states(of: [1, 2]) == [1: .available, 2: .scheduled])
        #expect(try await accepted() == 0, "none of these calls accepts rows")
        // The same holds once it is accepted.
        try await store.acceptArrivals()
        #expect(try await store.status().count(.available) == 2)
        #expect(try await fixture.sql(views).hasPrefix("1|available|web|7|2|file:///a.jpg"))
        #expect(try await fixture.sql(batch).split(separator: "\n") == ["b|1|available", "b|2|scheduled"])
    }

    @Test(arguments: ["cancel", "snooze", "retry", "bulk"])
    func anOperatorCanChangeUnacceptedJobs(way: String) async throws {
        try insert([Self.request("a"), Self.request("b")])
        let later = fixture.clock.storeClock.now().addingTimeInterval(60)
        switch way {
        case "cancel": #expect(try await store.cancel(2) == .available)
        case "snooze": #expect(try await store.snooze(2, until: later) == .available)
        case "retry": #expect(try await store.retry(2).before == .available)
        default:
            var filter = JobFilter()
            (filter.states, filter.sourcePrefix) = ([.available], "file:///b")
            #expect(try await store.change(filter, by: .cancel).changed == 1)
        }
        let ids = try await store.claim(limit: 9, for: "w1").map(\.claim.jobID).sorted()
        #expect(ids == (way == "retry" ? [1, 2] : [1]))
    }
}
