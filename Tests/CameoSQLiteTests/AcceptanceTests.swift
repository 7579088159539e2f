import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
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
        let stranger = try fixture.stranger()
        try stranger.run("BEGIN IMMEDIATE")
        for request in requests { try stranger.run("INSERT INTO job(request) VALUES (?)", [request]) }
        try stranger.run("COMMIT")
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

    /// Their combined requests exceed the limit of one.
    @Test func aClaimAcceptsTwoDuplicatesOfAlmostAMebibyteEach() async throws {
        let pad = String(repeating: "x", count: 1_048_400)
        let duplicates = ["one", "two"].map { Self.long(pad, #","batch":"\#($0)""#) }
        try #require(duplicates.allSatisfy { (1_048_000...1_048_576).contains($0.utf8.count) })
        try insert(duplicates + [Self.request("b")])
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1, 3])
        #expect(try await store.job(2).supersededBy == 1)
    }

    /// Many rows of another program do not slow the jobs down that wait already.
    @Test func fewRowsAreAcceptedBesideJobsThatWait() async throws {
        try await fixture.register()
        try await fixture.enqueue(3)
        try insert((0..<700).map { Self.request("other\($0)") })
        #expect(try await store.claim(limit: 1, for: "w1").count == 1)
        #expect(try await accepted() - 3 <= 50)
        let first = try await accepted()
        store.acceptances.rest(for: .seconds(3_600))
        _ = try await store.sweep(for: "w1")
        #expect(try await store.claim(limit: 1, for: "w1").count == 1)
        #expect(try await accepted() == first)
        store.acceptances.rest(for: .zero)
        _ = try await store.sweep(for: "w1")
        #expect(try await accepted() > first)
        store.acceptances.rest(for: .seconds(3_600))
        var claimed = 2
        while case let count = try await store.claim(limit: 100, for: "w1").count, count > 0 { claimed += count }
        #expect(claimed == 703)
    }

    @Test func aPageIsBoundedByRowsAndBytes() async throws {
        try insert((0..<700).map { Self.request("\($0)") })
        #expect(try await store.acceptPage())
        #expect(try await accepted() == 500)
        while try await store.acceptPage() { try Task.checkCancellation() }
        #expect(try await accepted() == 700)
        let pad = String(repeating: "x", count: 1_000_000)
        try insert((0..<12).map { Self.long("\($0)\(pad)") })
        #expect(try await store.acceptPage())
        #expect(try await accepted() == 703)
        while try await store.acceptPage() { try Task.checkCancellation() }
        #expect(try await store.status().count(.available) == 712)
        #expect(try await fixture.sql("SELECT count(*) FROM task") == "712")
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
        let other = try fixture.store(interruptedBy: ended + note, before: 2)
        #expect(try await other.acceptPage())
        #expect(try await fixture.sql("SELECT group_concat(id) FROM task") == (isThrough ? "" : "2"))
        #expect(try await accepted() == 2)
    }

    /// Cameo's own enqueuers do not wait for unaccepted rows, and their own rows are not accepted twice.
    @Test func anEnqueuersJobsAreAcceptedAtOnce() async throws {
        try await fixture.enqueue(3)
        #expect(try await accepted() == 3)
        #expect(try await !store.read { db in try db.hasArrivals() })
        try insert([Self.request("a")])
        let text = Self.request("b")
        // Like an enqueuer that read before that INSERT.
        try await store.commit { db in
            try db.execute("INSERT INTO job(request) VALUES (?)", [text])
            guard case .success(let new) = Arrival(id: 5, createdAt: 0, request: text.utf8).reading else { return }
            try db.accept(new, as: 5, createdAt: 0)
            try db.flush()
        }
        #expect(try await accepted() == 3)
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID).sorted() == [1, 2, 3, 4, 5])
        while try await store.acceptPage() { try Task.checkCancellation() }
        #expect(try await accepted() == 5)
        try await expectSound()
    }

    @Test(arguments: [
        "INSERT INTO job(id, request) VALUES (7, '%')", "INSERT OR REPLACE INTO job(id, request) VALUES (1, '%')",
        "REPLACE INTO job(id, request) VALUES (1, '%')", "INSERT INTO job(rowid, request) VALUES (1, '%')",
        "INSERT INTO job(id, request) VALUES (0, '%')", "INSERT INTO job(id, request) VALUES (-1, '%')",
        "INSERT OR REPLACE INTO job(id, request) VALUES (-1, '%')", "UPDATE job SET request = '%' WHERE id = 1",
        "UPDATE job SET id = 9 WHERE id = 1", "UPDATE OR REPLACE job SET created_at = 0",
        "INSERT INTO job(id, request) VALUES (1, '%') ON CONFLICT DO UPDATE SET request = excluded.request",
        "INSERT INTO upload(id, data, request) VALUES (1, x'02', '{\"renditions\":[{\"width\":9}]}')",
        "REPLACE INTO upload(id, data, request) VALUES (-1, x'02', '{\"renditions\":[{\"width\":9}]}')",
        "REPLACE INTO upload(id, data, request) VALUES (1, x'02', '{\"renditions\":[{\"width\":9}]}')",
        "INSERT INTO upload(data, request, job_id) VALUES (x'02', '{\"renditions\":[{\"width\":9}]}', 1)",
        "UPDATE upload SET data = x'02'", "UPDATE upload SET request = '{\"renditions\":[]}'",
        "UPDATE upload SET id = 9",
    ])
    func neitherAJobNorAnUploadIsReplacedOrNumberedByAProducer(statement: String) async throws {
        try insert([Self.request("a")])
        _ = try await fixture.sql(#"INSERT INTO upload(data, request) VALUES (x'01', '{"renditions":[{"width":64}]}')"#)
        let look = "SELECT * FROM job; SELECT id, hex(data), request, job_id FROM upload"
        let before = try await fixture.sql(look)
        await #expect(throws: StoreError.self) {
            _ = try await fixture.sql(statement.replacing("%", with: Self.request("other")))
        }
        #expect(try await fixture.sql(look) == before)
    }
}
