import CameoModel
import CameoQueue
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

    func expectSound() async throws {
        #expect(try await fixture.wrongCounts() == "")
        let lost = "SELECT id FROM job WHERE id NOT IN (SELECT id FROM task UNION SELECT id FROM outcome)"
        #expect(try await fixture.sql(lost) == "")
    }

    /// A database cannot hold the text of these, so they are refused when they are inserted, and stop nothing.
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

    /// Ids become visible in another order than they are issued in.
    @Test func aRowThatIsCommittedLateIsAcceptedToo() async throws {
        let (inserted, note) = AsyncStream<Void>.makeStream()
        let commits = DispatchSemaphore(value: 0)
        defer { commits.signal() }  // also where something throws: the other would wait for ever
        let request = Self.request("early")
        let producer = try fixture.anotherStore()
        let early = Task {
            try await producer.commit { db in
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
        #expect(first.map(\.id) == Array(1...500))
        try await store.acceptAll()
        let pad = String(repeating: "x", count: 1_000_000)
        try await insert((0..<12).map { Self.long("\($0)\(pad)") })
        #expect(try await store.read { db in try Arrival.page(db).count } == 3)
        try await store.acceptAll()
        #expect(try await store.status().count(.available) == 712)
        try await expectSound()
    }

    /// Many rows of another program do not slow the jobs down that wait already.
    @Test func fewRowsAreAcceptedBesideJobsThatWait() async throws {
        try await fixture.enqueue(3)
        try await insert((0..<700).map { Self.request("other\($0)") })
        #expect(try await store.claim(limit: 1, for: "w1").count == 1)
        let first = try await arrivals()
        #expect(first >= 650)
        store.acceptances.rest(for: .seconds(3_600))
        #expect(try await store.claim(limit: 1, for: "w1").count == 1)
        #expect(try await arrivals() == first)
        var claimed = 2
        while case let count = try await store.claim(limit: 100, for: "w1").count, count > 0 { claimed += count }
        #expect(claimed == 703)
    }

    @Test func anEnqueuersJobsAreAcceptedAtOnce() async throws {
        try await fixture.enqueue(3)
        #expect(try await arrivals() == 0)
        #expect(try await fixture.sql("SELECT count(*) FROM task") == "3")
    }

    @Test(arguments: [
        "INSERT INTO job(id, request) VALUES (7, '%')", "UPDATE job SET request = '%' WHERE id = 1",
        "UPDATE job SET id = 9 WHERE id = 1", "UPDATE job SET created_at = 0",
        "INSERT INTO upload(id, data, request) VALUES (1, '\\x02', '{\"renditions\":[{\"width\":9}]}')",
        "INSERT INTO upload(data, request, job_id) VALUES ('\\x02', '{\"renditions\":[{\"width\":9}]}', 1)",
        "UPDATE upload SET data = '\\x02'", "UPDATE upload SET request = '{\"renditions\":[]}'",
        "INSERT INTO upload(data, request) VALUES (NULL, '{\"renditions\":[{\"width\":9}]}')",
        "INSERT INTO upload(data, request) VALUES ('\\x02', '{\"source\":\"a\",\"renditions\":[{\"width\":9}]}')",
    ])
    func neitherAJobNorAnUploadIsReplacedOrNumberedByAProducer(statement: String) async throws {
        try await insert([Self.request("a")])
        try await fixture.sql(#"INSERT INTO upload(data, request) VALUES ('\x01', '{"renditions":[{"width":64}]}')"#)
        let look = "SELECT id, request FROM job ORDER BY id; SELECT id, data, request, job_id FROM upload"
        let before = try await fixture.sql(look)
        await #expect(throws: PostgreSQLServer.Failure.self) {
            try await fixture.sql(statement.replacing("%", with: Self.request("other")))
        }
        #expect(try await fixture.sql(look) == before)
    }

    @Test(arguments: [
        ("[]", "request must be a JSON object"), ("{\"renditions\":[{}]}", "source must be a non-empty string"),
        ("{\"source\":\"\",\"renditions\":[{}]}", "source must be a non-empty string"),
        ("{\"source\":7,\"renditions\":[{}]}", "source must be a non-empty string"),
        ("{\"source\":\"a\"}", "renditions must be an array of 1 to 32 objects"),
        ("{\"source\":\"a\",\"renditions\":[]}", "renditions must be an array of 1 to 32 objects"),
        ("{", "invalid input syntax for type json"),
    ])
    func theTableNamesTheRuleThatARowBreaks(request: String, rule: String) async throws {
        let failure = await #expect(throws: PostgreSQLServer.Failure.self) { try await insert([request]) }
        #expect(failure?.description.contains(rule) == true, "\(failure?.description ?? "")")
    }

    /// A client can make any setting, and behind a pooler also for others.
    @Test func noSettingOfAClientKeepsAJobFromTheQueue() async throws {
        try await fixture.sql(
            """
            SET cameo.accepts = 'on';
            INSERT INTO job(request) VALUES ('\(Self.request("a"))');
            INSERT INTO upload(data, request) VALUES ('x', '{"renditions":[{"width":9}]}')
            """
        )
        #expect(try await fixture.sql("SELECT count(*) FROM arrival") == "2")
        #expect(try await store.claim(limit: 9, for: "w1").count == 2)
        // What Cameo enqueues itself, with or without a job to run, never arrives.
        try await fixture.enqueue(3)
        #expect(try await fixture.sql("SELECT count(*) FROM arrival") == "0")
        try await expectSound()
    }
}
