import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// The acceptance of rows inserted by SQL.
@Suite(.timeLimit(.minutes(10)))
struct AcceptanceTests {
    let fixture: StoreFixture

    init() async throws {
        fixture = try await StoreFixture()
    }

    var store: PostgreSQLStore { fixture.store }

    static func request(_ name: String, _ fields: String = "") -> String {
        #"{"source":"file:///\#(name).jpg","renditions":[{"width":64}]\#(fields)}"#
    }

    static func long(_ data: String, _ fields: String = "") -> String {
        #"{"source":"data:,\#(data)","renditions":[{"width":64}]\#(fields)}"#
    }

    /// Inserts all requests in one transaction, like a producer without Cameo's code.
    func insert(_ requests: [String]) async throws {
        let rows = requests.map { "('\($0.replacing("'", with: "''"))')" }.joined(separator: ",\n")
        try await fixture.sql("INSERT INTO job(request) VALUES \(rows)")
    }

    func arrivals() async throws -> Int { try #require(Int(try await fixture.sql("SELECT count(*) FROM arrival"))) }

    func refusal(_ id: Int64) async throws -> String? {
        let job = try await store.job(id)
        guard job.state == .discarded, job.failure?.code == .requestInvalid, job.attempt == 0 else { return nil }
        return job.failure?.message
    }

    func expectSound() async throws {
        #expect(try await fixture.wrongCounts() == "")
        let lost = "SELECT id FROM job WHERE id NOT IN (SELECT id FROM task UNION SELECT id FROM outcome)"
        #expect(try await fixture.sql(lost) == "")
    }

    // MARK: - Poison

    /// A database cannot hold the text of these, so they are refused at the door, and stop nothing.
    @Test(arguments: [#","concurrencyKey":"\ud800""#, #","batch":"a\u0000b""#])
    func aRequestWithTextThatIsNoneIsRefusedAtTheDoor(field: String) async throws {
        await #expect(throws: PostgreSQLServer.Failure.self) {
            try await insert([Self.request("a"), Self.request("b", field)])
        }
        try await insert([Self.request("c")])
        #expect(try await store.claim(limit: 9, for: "w1").count == 1)
        await #expect(throws: StoreError.self) {
            try await fixture.enqueue { $0.metadata = ["a": .string("\u{0}")] }
        }
        try await expectSound()
    }

    /// Regression: their combined requests exceeded the limit of one, so no claim, enqueue or rescue succeeded.
    @Test func twoDuplicatesOfAlmostAMebibyteEachAreOneJob() async throws {
        let pad = String(repeating: "x", count: 1_048_400)
        let duplicates = ["one", "two"].map { Self.long(pad, #","batch":"\#($0)""#) }
        try #require(duplicates.allSatisfy { (1_048_000...1_048_576).contains($0.utf8.count) })
        try await insert(duplicates + [Self.request("b")])
        try await fixture.register("w1")
        try await store.acceptArrivals()
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1, 3])
        #expect(try await store.job(2).supersededBy == 1)
        #expect(try await refusal(1) == nil)
        #expect(try await refusal(2) == nil)
        #expect(try await store.batch("two").count(.running) == 1)
        fixture.clock.advance(seconds: 31)
        #expect(try await store.rescueExpired(except: "me").rescued == 2)
        #expect(try await fixture.enqueue()[0].outcome == .accepted)
        try await store.deregister("w1")
        try await expectSound()
    }

    // MARK: - Order and pages

    @Test func rowsAreAcceptedInTheOrderOfTheirIds() async throws {
        try await insert([Self.request("a"), Self.request("b"), Self.request("a"), Self.request("b")])
        try await store.acceptArrivals()
        #expect(try await arrivals() == 0)
        #expect(try await [store.job(3), store.job(4)].map(\.supersededBy) == [1, 2])
        let changes = try await store.changes(since: 0, limit: 9).map { "\($0.job) \($0.state)" }
        #expect(changes == ["1 available", "2 available", "3 cancelled", "4 cancelled"])
    }

    /// Ids become visible in another order than they are issued in.
    @Test func aRowThatIsCommittedLateIsAcceptedToo() async throws {
        let (inserted, note) = AsyncStream<Void>.makeStream()
        let commits = DispatchSemaphore(value: 0)
        let request = Self.request("early")
        let producer = try fixture.anotherStore()
        let early = Task {
            try await producer.commit { db in
                _ = try db.query("SELECT set_config('cameo.accepts', '', true)")
                try db.execute("INSERT INTO job(request) VALUES ($1)", [request])
                note.yield()
                commits.wait()
            }
        }
        for await _ in inserted { break }
        try await insert([Self.request("late")])
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [2])
        commits.signal()
        try await early.value
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])
    }

    @Test func aPageIsBoundedByRowsAndBytes() async throws {
        try await insert((0..<700).map { Self.request("\($0)") })
        let first = try await store.read { db in try Arrival.page(db) }
        #expect((1...500).contains(first.count))
        #expect(first.map(\.id) == (1...Int64(first.count)).map { $0 })
        try await store.acceptArrivals()
        let pad = String(repeating: "x", count: 1_000_000)
        try await insert((0..<12).map { Self.long("\($0)\(pad)") })
        #expect(try await store.read { db in try Arrival.page(db).count } < 12)
        try await store.acceptArrivals()
        #expect(try await store.status().count(.available) == 712)
        try await expectSound()
    }

    /// A claim continues after a page whose rows are all scheduled for later.
    @Test func aClaimContinuesAfterScheduledRows() async throws {
        try await insert(
            (0..<1_100).map { Self.request("\($0)", #","runAt":"2090-01-01T00:00:00Z""#) } + [Self.request("now")]
        )
        #expect(try await store.claim(limit: 1, for: "w1").map(\.claim.jobID) == [1_101])
    }

    @Test func manyProcessesAcceptEachRowOnce() async throws {
        try await insert((0..<2_000).map { Self.request("\($0)") })
        let stores = try (0..<4).map { _ in try fixture.anotherStore() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask { while try await arrivals() > 0 { try await store.acceptArrivals() } }
            }
            try await group.waitForAll()
        }
        #expect(try await store.changes(since: 0, limit: 9_999).count == 2_000)
        #expect(try await fixture.sql("SELECT available FROM queue_total") == "2000")
        try await expectSound()
    }

    @Test func anEnqueuersJobsAreAcceptedAtOnce() async throws {
        try await fixture.enqueue(3)
        #expect(try await arrivals() == 0)
        #expect(try await fixture.sql("SELECT count(*) FROM task") == "3")
    }

    // MARK: - Unaccepted rows are visible

    @Test func unacceptedRowsAreVisibleEverywhere() async throws {
        try await insert([
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
        #expect(try await arrivals() == 3, "none of these calls accepts rows")
        // The same holds once it is accepted.
        try await store.acceptArrivals()
        #expect(try await store.status().count(.available) == 2)
        #expect(try await fixture.sql(views).hasPrefix("1|available|web|7|2|file:///a.jpg"))
        #expect(try await fixture.sql(batch).split(separator: "\n") == ["b|1|available", "b|2|scheduled"])
    }

    @Test(arguments: ["cancel", "snooze", "retry", "bulk"])
    func anOperatorCanChangeUnacceptedJobs(way: String) async throws {
        try await insert([Self.request("a"), Self.request("b")])
        let later = fixture.clock.now.addingTimeInterval(60)
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
