import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

@testable import CameoPostgreSQL

// Rows that cannot be accepted.
extension AcceptanceTests {
    @Test func aRefusedRowDoesNotStopTheNext() async throws {
        try await insert([
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
        try await insert([
            Self.request("a", #","queue":"web","batch":"b","priority":1000"#), Self.request("b", #","batch":"b""#),
        ])
        #expect(try await store.batch("b").total == 2)
        try await store.acceptArrivals()
        let batch = try await store.batch("b")
        #expect((batch.total, batch.count(.discarded)) == (2, 1))
        #expect(batch.failures.map(\.code) == [.requestInvalid])
        #expect(try await store.job(1).queue == "web")
        let rows = "SELECT string_agg(id || state, ',' ORDER BY id) FROM batch_status"
        #expect(try await fixture.sql(rows) == "1discarded,2available")
    }

    @Test func aRetryDoesNotAcceptWhatIsStillInvalid() async throws {
        try await insert([Self.request("a", #","priority":1000"#)])
        #expect(try await store.retry(1).before == .discarded)
        #expect(try await refusal(1) != nil)
        #expect(try await store.claim(limit: 9, for: "w1").isEmpty)
        try await expectSound()
    }

    /// Regression: the job was retried until its attempts were used up.
    @Test(arguments: ["upload:7", "upload:1", "UPLOAD:1", "upload:", "upload:x"])
    func anUploadSourceWithoutAnUploadIsFinal(source: String) async throws {
        try await fixture.sql(#"INSERT INTO upload(data, request) VALUES ('\x01', '{"renditions":[{"width":64}]}')"#)
        try await insert([#"{"source":"\#(source)","renditions":[{"width":64}]}"#])
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])
        #expect(try await refusal(2)?.contains("only an upload may have an upload: source") == true)
        _ = try await store.retry(2)
        #expect(try await store.claim(limit: 9, for: "w1").isEmpty)
        #expect(try await refusal(2) != nil)
    }

    // MARK: - Columns reserved for Cameo

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
}
