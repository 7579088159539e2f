import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoSQLite

/// Requests that the table's checks would refuse: a damaged page or a program without checks has left them.
struct RottenRequestTests {
    @Test(arguments: [
        #"{"source":"#, "", #"{"source":5,"renditions":[{"width":9}]}"#, #"["no object"]"#, "\u{0001}",
    ])
    func itEndsAloneAndByName(request: String) async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        let quoted = request.replacing("'", with: "''")
        _ = try await SQLiteEngine.sql(
            """
            PRAGMA ignore_check_constraints = ON;
            INSERT INTO job(request) VALUES ('\(quoted)'), ('{"source":"file:///b.png","renditions":[{"width":9}]}');
            """,
            at: fixture.path
        )
        #expect(try await fixture.store.status().jobs[.available] == 2)
        _ = try await fixture.store.job(1)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [2])
        let job = try await fixture.store.job(1)
        #expect((job.state, job.failure?.code) == (.discarded, .requestInvalid))
        #expect(try await fixture.store.jobs(JobFilter()).map(\.id) == [2, 1])
    }

    @Test func checkNamesItAndARepairDiscardsIt() async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        try await fixture.enqueue(2)
        _ = try await SQLiteEngine.sql(
            """
            PRAGMA ignore_check_constraints = ON;
            DROP TRIGGER job_is_kept;
            UPDATE job SET request = '{"source' WHERE id = 2;
            CREATE TRIGGER job_is_kept BEFORE UPDATE ON job BEGIN SELECT RAISE(ABORT, 'never'); END;
            INSERT INTO job(request) VALUES ('[]');
            """,
            at: fixture.path
        )
        let found = try await fixture.store.check().first { $0.subject == "requests" }
        #expect(found?.severity == .error && found?.message.contains("job 2") == true)
        _ = try await fixture.store.repair(in: try await fixture.store.freeTurn())
        #expect(try await fixture.store.check().first { $0.subject == "requests" }?.severity == .ok)
        #expect(try await fixture.store.jobs(JobFilter()).map(\.state) == [.discarded, .discarded, .available])
        #expect(try await fixture.store.job(2).failure?.code == .requestInvalid)
    }

    @Test(arguments: [Int64.min, Int64.max, -1])
    func noTimeOfARowTraps(createdAt: Int64) async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        _ = try await SQLiteEngine.sql(
            """
            PRAGMA ignore_check_constraints = ON;
            INSERT INTO job(request, created_at)
              VALUES ('{"source":"file:///b.png","renditions":[{"width":9}]}', \(createdAt));
            """,
            at: fixture.path
        )
        _ = try await fixture.store.status()
        _ = try await fixture.store.job(1)
        #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])
    }
}
