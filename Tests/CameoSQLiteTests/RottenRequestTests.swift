import CameoModel
import CameoQueue
import CameoStore
import Foundation
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
