import CameoModel
import CameoQueue
import CameoStore
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

/// What a wait asks again and again must not cost more in a larger store.
@Suite(.timeLimit(.minutes(10)))
struct PlanTests {
    private let fixture: StoreFixture

    /// Jobs that wait, that have ended, and of a batch; one nobody has accepted.
    init() async throws {
        fixture = try StoreFixture()
        try await fixture.enqueue(6)
        try await fixture.enqueue(2) { $0.batch = "holiday" }
        for id: Int64 in 1...3 { _ = try await fixture.store.cancel(id) }
        _ = try await fixture.sql(
            #"INSERT INTO job(request) VALUES ('{"source":"file:///new.jpg","renditions":[{"width":64}]}')"#
        )
    }

    /// The steps of the plans of all statements that a body runs, which read a whole table.
    private func scans(_ body: (SQLiteStore) async throws -> Void) async throws -> [String] {
        let statements = Mutex<Set<String>>([])
        let store = try SQLiteStore(reading: fixture.path)
        try await store.read { db in
            db.connection.trace { sql in
                if !sql.hasPrefix("EXPLAIN") { _ = statements.withLock { $0.insert(sql) } }
            }
        }
        try await body(store)
        let seen = statements.withLock { $0 }
        #expect(!seen.isEmpty)
        return try await store.read { db in
            try seen.filter { $0.hasPrefix("SELECT") || $0.hasPrefix("WITH") }.flatMap { sql in
                try db.query("EXPLAIN QUERY PLAN \(sql)").map { try $0["detail"] as String }
                    .filter {
                        // That index has the running jobs alone.
                        !$0.contains("USING INDEX task_running")
                            && $0.contains(
                                #/^(SCAN (job|task|outcome|attempt|thumbnail|blob|accepted|change)\b|MATERIALIZE job_status)/#
                            )
                    }
                    .map { "\($0): \(sql)" }
            }
        }
    }

    @Test func waitingForJobsReadsNothingButThem() async throws {
        let found = try await scans { store in
            #expect(try await store.places(of: [1, 5, 9]).count == 3)
            _ = try await store.jobInPlace(of: 1)
            _ = try await store.job(9)
            _ = try await store.changes(since: try await store.lastChange(), limit: 10)
            #expect(try await store.standstills() == [.noWorker])
        }
        #expect(found.isEmpty, "\(found)")
    }

    @Test func waitingForABatchReadsNothingButItsJobs() async throws {
        let found = try await scans { store in _ = try await store.batch("holiday") }
        #expect(found.isEmpty, "\(found)")
    }
}
