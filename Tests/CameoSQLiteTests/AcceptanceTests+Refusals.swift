import CameoModel
import CameoStore
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

// Rows that cannot be accepted.
extension AcceptanceTests {
    @Test func aRefusedRowDoesNotStopTheNext() async throws {
        try insert([
            Self.request("a", #","priority":1000"#), Self.request("b"), Self.request("c", #","runAt":"yesterday""#),
            Self.request("d", #","queue":7"#), Self.request("e"),
        ])
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [2, 5])
        for (id, word) in [(Int64(1), "priority"), (3, "runAt"), (4, "queue")] {
            #expect(try await refusal(id)?.contains(word) == true)
        }
        #expect(try await store.status().count(.discarded) == 3)
        try await expectSound()
    }

    @Test func aRefusedRowStaysInItsQueueAndBatch() async throws {
        try insert([
            Self.request("a", #","queue":"web","batch":"b","priority":1000"#), Self.request("b", #","batch":"b""#),
        ])
        #expect(try await store.batch("b").total == 2)
        try await store.acceptArrivals()
        let batch = try await store.batch("b")
        #expect((batch.total, batch.count(.discarded)) == (2, 1))
        #expect(batch.failures.map(\.code) == [.requestInvalid])
        #expect(try await store.job(1).queue == "web")
        let rows = "SELECT group_concat(id || state) FROM (SELECT * FROM batch_status ORDER BY id)"
        #expect(try await fixture.sql(rows) == "1discarded,2available")
    }

    @Test func aRetryDoesNotAcceptWhatIsStillInvalid() async throws {
        try insert([Self.request("a", #","priority":1000"#)])
        #expect(try await store.retry(1).before == .discarded)
        #expect(try await refusal(1) != nil)
        #expect(try await store.claim(limit: 9, for: "w1").isEmpty)
        try await expectSound()
    }

    /// Regression: the job was retried until its attempts were used up.
    @Test(arguments: ["upload:7", "upload:1", "UPLOAD:1", "upload:", "upload:x"])
    func anUploadSourceWithoutAnUploadIsFinal(source: String) async throws {
        _ = try await fixture.sql(#"INSERT INTO upload(data, request) VALUES (x'01', '{"renditions":[{"width":64}]}')"#)
        try insert([#"{"source":"\#(source)","renditions":[{"width":64}]}"#])
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])
        #expect(try await refusal(2)?.contains("only an upload may have an upload: source") == true)
        _ = try await store.retry(2)
        #expect(try await store.claim(limit: 9, for: "w1").isEmpty)
        #expect(try await refusal(2) != nil)
    }

    // MARK: - Columns reserved for Cameo

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
