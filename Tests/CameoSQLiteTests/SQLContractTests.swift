import CameoModel
import CameoQueue
import CameoSQLite
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// The contract with producers in other languages, tested with the sqlite3 shell and Python.
@Suite(.timeLimit(.minutes(10)))
struct SQLContractTests {
    private func shell(_ sql: String, _ fixture: StoreFixture) async throws -> ProcessResult {
        let script = "PRAGMA busy_timeout=120000;\nPRAGMA wal_autocheckpoint=0;\n" + sql
        return try await run("sqlite3", ["\(fixture.path)/cameo.sqlite"], input: Data(script.utf8))
    }

    @Test func oneInsertEnqueuesAJob() async throws {
        let fixture = try StoreFixture()
        let result = try await shell(
            """
            INSERT INTO job(request) VALUES (json('{"source":"file:///a.jpg","renditions":[{"width":64}],
              "queue":"web","priority":7,"maxAttempts":2,"batch":"b","runAt":"2020-01-01T00:00:00Z"}'));
            """,
            fixture
        )
        #expect(result.exitStatus == 0, "\(result.errorText)")
        let job = try await fixture.store.job(1)
        #expect((job.state, job.queue, job.priority, job.maxAttempts, job.batch) == (.available, "web", 7, 2, "b"))
        let request = try ThumbnailRequest(json: job.request)
        #expect(job.thumbnails.map(\.uri) == (try request.thumbnailIDs()).map(CameoURI.thumbnail))
        #expect(try await fixture.store.claim(limit: 1, for: "w1").count == 1)
    }

    @Test func aLaterTimeSchedulesWhateverItsOffset() async throws {
        let fixture = try StoreFixture()
        let insert = """
            INSERT INTO job(request) VALUES ('{"source":"file:///a.jpg","renditions":[{"width":64}],
              "runAt":"2090-01-31T12:00:00.250+02:00"}');
            """
        #expect(try await shell(insert, fixture).exitStatus == 0)
        let job = try await fixture.store.job(1)
        #expect(job.state == .scheduled)
        #expect(WireFormat.text(of: job.availableAt) == "2090-01-31T10:00:00.250Z")
    }

    @Test(arguments: [
        ("NULL", "NOT NULL constraint failed"),
        ("'{'", "request must be a JSON object"),
        ("'[]'", "request must be a JSON object"),
        (#"'{"renditions":[{"width":1}]}'"#, "source must be a non-empty string"),
        (#"'{"source":null,"renditions":[{"width":1}]}'"#, "source must be a non-empty string"),
        (#"'{"source":"","renditions":[{"width":1}]}'"#, "source must be a non-empty string"),
        (#"'{"source":"a"}'"#, "renditions must be an array of 1 to 32 objects"),
        (#"'{"source":"a","renditions":[]}'"#, "renditions must be an array of 1 to 32 objects"),
    ])
    func aBadRequestIsRefusedWithItsReason(request: String, reason: String) async throws {
        let fixture = try StoreFixture()
        let result = try await shell("INSERT INTO job(request) VALUES (\(request));", fixture)
        #expect(result.exitStatus != 0)
        #expect(result.errorText.contains(reason), "\(result.errorText)")
        #expect(try await fixture.store.status().count(.available) == 0)
    }

    /// Acceptance refuses what the table's constraints do not check.
    @Test(arguments: [
        (#""queue":7"#, "queue"), (#""priority":"high""#, "priority"), (#""priority":101"#, "priority"),
        (#""priority":1e300"#, "priority"), (#""maxAttempts":0"#, "maxAttempts"), (#""runAt":"tomorrow""#, "runAt"),
        (#""batch":"""#, "batch"), (#""source":"b""#, "source"), (#""unheard":1"#, "unheard"),
    ])
    func aFieldNotCheckedByTheTableEndsTheJobWithItsReason(field: String, word: String) async throws {
        let fixture = try StoreFixture()
        let insert = #"INSERT INTO job(request) VALUES ('{"source":"a","renditions":[{"width":1}],\#(field)}');"#
        let result = try await shell(insert, fixture)
        #expect(result.exitStatus == 0, "\(result.errorText)")
        #expect(try await fixture.store.claim(limit: 9, for: "w1").isEmpty)
        let job = try await fixture.store.job(1)
        #expect((job.state, job.attempt, job.failure?.code) == (.discarded, 0, .requestInvalid))
        #expect(job.failure?.message.contains(word) == true, "\(job.failure?.message ?? "")")
        #expect(try await fixture.store.check().filter { $0.severity == .error } == [])
    }

    @Test func pythonUploadsAPictureAndFollowsItsJob() async throws {
        let fixture = try StoreFixture()
        let script = """
            import json, sqlite3, sys
            db = sqlite3.connect(sys.argv[1], timeout=120)
            db.execute("PRAGMA wal_autocheckpoint=0")
            with db:
                db.execute("INSERT INTO upload(data, request) VALUES (?, ?)",
                           (b"picture", json.dumps({"renditions": [{"width": 64}], "queue": "web"})))
                (job,) = db.execute("SELECT job_id FROM upload WHERE id = last_insert_rowid()").fetchone()
            print(*db.execute("SELECT id, state, queue, source FROM job_status WHERE id = ?", (job,)).fetchone())
            """
        let result = try await run("/usr/bin/python3", ["-c", script, "\(fixture.path)/cameo.sqlite"])
        #expect(result.outputText == "1 available web upload:1\n", "\(result.errorText)")
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        #expect(job.uploadedBytes != nil)
        let request = try await fixture.store.absorbUpload(job)
        let digest = BlobDigest(of: Data("picture".utf8))
        #expect(request.source == "cameo://blob/\(digest)")
        #expect(try await fixture.store.data(of: digest) == Data("picture".utf8))
        _ = try await fixture.store.beginFetch(job.claim, of: request)
        #expect(
            try await fixture.store.job(1).thumbnails.map(\.uri)
                == (try request.thumbnailIDs()).map(CameoURI.thumbnail)
        )
        let look = try await shell("SELECT count(*), count(data), max(job_id) FROM upload;", fixture)
        #expect(look.outputText.hasSuffix("1|0|1\n"))
    }

    @Test(arguments: [
        (#"NULL, '{"renditions":[{"width":1}]}'"#, "data must have 1 byte to 100 MiB"),
        (#"x'', '{"renditions":[{"width":1}]}'"#, "data must have 1 byte to 100 MiB"),
        (#"x'00', '{"source":"file:///a","renditions":[{"width":1}]}'"#, "request of an upload must have no source"),
        (#"x'00', '{"renditions":[]}'"#, "renditions must be an array of 1 to 32 objects"),
        (#"x'00', 'nonsense'"#, "request must be a JSON object"),
    ])
    func aBadUploadIsRefusedWithItsReason(values: String, reason: String) async throws {
        let fixture = try StoreFixture()
        let result = try await shell("INSERT INTO upload(data, request) VALUES (\(values));", fixture)
        #expect(result.exitStatus != 0)
        #expect(result.errorText.contains(reason), "\(result.errorText)")
        #expect(try await shell("SELECT count(*) FROM upload;", fixture).outputText.hasSuffix("\n0\n"))
    }

    @Test func theViewShowsStateFailureAndThumbnails() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(2)
        let jobs = try await fixture.store.claim(limit: 2, for: "w1")
        try await fixture.store.complete(
            jobs[0].claim,
            storing: try StoreFixture.rendered(jobs[0]),
            from: try StoreFixture.provenance(),
            timings: AttemptTimings()
        )
        let failure = JobFailure(.imageCorrupt, at: .render, "cut off")
        try await fixture.store.fail(jobs[1].claim, with: failure, retryAt: nil)
        let select = """
            SELECT state, failure_code, failure_message, json_extract(thumbnails, '$[0].width'),
              json_extract(thumbnails, '$[0].name'), finalized_at FROM job_status ORDER BY id;
            """
        let lines = try await shell(select, fixture).outputText.split(separator: "\n").suffix(2)
        #expect(
            Array(lines) == [
                "completed|||64|64x64|2030-03-17T17:46:40.000Z",
                "discarded|image.corrupt|cut off||64x64|2030-03-17T17:46:40.000Z",
            ]
        )
        #expect(try await shell("DELETE FROM job_status;", fixture).exitStatus != 0)
    }

    @Test(arguments: [
        "INSERT INTO job(request, failure) VALUES ('%', '{}')",
        "INSERT INTO job(request, thumbnails) VALUES ('%', '[1,2]')",
        "INSERT INTO job(request, attempt) VALUES ('%', 7)",
        "INSERT OR REPLACE INTO job(id, request) VALUES (1, '%')",
    ])
    func columnsReservedForWorkersCannotBeInserted(sql: String) async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue()
        let request = #"{"source":"file:///a.jpg","renditions":[{"width":64}]}"#
        let result = try await shell(sql.replacingOccurrences(of: "%", with: request) + ";", fixture)
        #expect(result.exitStatus != 0)
        #expect(try await fixture.store.jobs(JobFilter()).count == 1)
        #expect(try await fixture.store.check().filter { $0.severity != .ok } == [])
    }

    @Test(arguments: ["OR ABORT", "OR FAIL", "OR ROLLBACK", "OR IGNORE", "OR REPLACE"])
    func everyConflictClauseEnqueues(clause: String) async throws {
        let fixture = try StoreFixture()
        let insert =
            #"INSERT \#(clause) INTO job(request) VALUES ('{"source":"file:///a.jpg","renditions":[{"width":64}]}');"#
        let result = try await shell(insert + insert, fixture)
        #expect(result.exitStatus == 0, "\(result.errorText)")
        #expect(try await fixture.store.status().count(.available) == 2)
        #expect(try await fixture.store.check().filter { $0.severity != .ok } == [])
    }
}
