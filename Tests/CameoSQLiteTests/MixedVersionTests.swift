import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Programs of several versions on one store, one of which migrates the tables while others have it open.
@Suite(.timeLimit(.minutes(10)))
struct MixedVersionTests {
    /// A migration that a future version might make.
    private func takeOver(_ path: String) async throws {
        let script = """
            PRAGMA busy_timeout=120000; PRAGMA wal_autocheckpoint=0;
            BEGIN IMMEDIATE;
            ALTER TABLE task ADD COLUMN novelty INTEGER;
            ALTER TABLE outcome ADD COLUMN novelty INTEGER;
            CREATE TRIGGER task_novelty AFTER UPDATE OF state ON task BEGIN
              UPDATE task SET novelty = NEW.state WHERE id = NEW.id;
            END;
            CREATE TRIGGER outcome_novelty AFTER INSERT ON outcome BEGIN
              UPDATE outcome SET novelty = NEW.state WHERE id = NEW.id;
            END;
            PRAGMA user_version = 99;
            COMMIT;
            """
        let result = try await run("sqlite3", ["-bail", "\(path)/cameo.sqlite"], input: Data(script.utf8))
        try #require(result.exitStatus == 0, "\(result.errorText)")
    }

    @Test(arguments: 1..<Schema.currentVersion)
    func aStoreOfAnOlderVersionIsMigratedWithItsJobs(version: Int) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store")
        let directory = try StoreDirectory(at: path, creating: true)
        try directory.makeDatabase()
        let old = try SQLiteConnection(directory.database, .readWrite)
        try Schema.setUp(old, at: path, to: version)
        let request = #"{"source":"file:///1","renditions":[{"width":9}]}"#
        try old.execute("INSERT INTO job(request) VALUES (?), (?)", [request, request])
        try old.close()
        let store = try SQLiteStore(at: path)
        let lacking = WorkerDescription(
            id: "w1",
            host: "h",
            pid: 1,
            version: "test",
            concurrency: 1,
            lacks: [.writing(.avif)]
        )
        try await store.register(lacking)
        #expect(try await store.status().workers.map(\.lacks) == [["write:avif"]])
        // The second has joined the first.
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])
        #expect(try await store.check().allSatisfy { $0.severity != .error })
    }

    @Test func aStoreThatAnEarlierBuildMadeGoesOn() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let marks =
            "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 2; PRAGMA journal_mode = WAL;"
        let script = try await EarlierStore.sqlite.dump() + Data((EarlierStore.sqlite.breakingTheFeed + marks).utf8)
        let result = try await run("sqlite3", ["-bail", "\(path)/cameo.sqlite"], input: script)
        try #require(result.exitStatus == 0, "\(result.errorText)")
        try await EarlierStore.expectItGoesOn(try SQLiteStore(at: path))
    }

    @Test func newWorkIsRefusedByNameOnTablesOfANewerVersion() async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        try await fixture.enqueue(2)
        #expect(try await fixture.store.sweep(for: "w1").refusal == nil)
        try await takeOver(fixture.path)
        let refusal = StoreError.newerSchema(path: fixture.path, found: 99, supported: Schema.currentVersion)
        #expect(try await fixture.store.sweep(for: "w1").refusal == refusal)
        await #expect(throws: refusal) { try await fixture.enqueue() }
        await #expect(throws: refusal) { try await fixture.store.claim(limit: 1, for: "w1") }
        await #expect(throws: refusal) { try await fixture.store.cancel(1) }
        await #expect(throws: refusal) { _ = try await fixture.store.pause("default") }
        await #expect(throws: refusal) { try await fixture.store.store(Data("bytes".utf8), mediaType: nil) }
        #expect(try await fixture.store.states(of: [1, 2, 3]) == [1: .available, 2: .available])
    }

    @Test func workInProgressEndsOnTablesOfANewerVersion() async throws {
        let fixture = try StoreFixture()
        let registration = try await fixture.register()
        try await fixture.enqueue(4)
        let jobs = try await fixture.store.claim(limit: 4, for: "w1")
        try await takeOver(fixture.path)
        try await fixture.store.extendLease(registration)
        let request = try ThumbnailRequest(parsing: jobs[0].request.utf8)
        _ = try await fixture.store.beginFetch(jobs[0].claim, of: request)
        try await fixture.store.complete(
            jobs[0].claim,
            storing: try StoreFixture.rendered(jobs[0]),
            from: try StoreFixture.provenance(),
            timings: AttemptTimings()
        )
        let failure = JobFailure(.imageCorrupt, at: .render, "cut off")
        try await fixture.store.fail(jobs[1].claim, with: failure, retryAt: nil)
        try await fixture.store.release(jobs[2].claim)
        try await fixture.store.deregister(registration)
        let states = try await fixture.store.states(of: [1, 2, 3, 4])
        #expect(states == [1: .completed, 2: .discarded, 3: .available, 4: .available])
        let rows = "SELECT id, novelty FROM outcome UNION ALL SELECT id, novelty FROM task ORDER BY id"
        #expect(
            try await fixture.sql("SELECT group_concat(novelty) FROM (\(rows))") == "4,5,1,1",
            "the newer version's rules held"
        )
    }

    /// A refused write does not affect others in its group.
    @Test func aGroupRefusesOnlyNewWork() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(8)
        let jobs = try await fixture.store.claim(limit: 8, for: "w1")
        try await takeOver(fixture.path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for job in jobs {
                group.addTask { _ = try await fixture.store.release(job.claim) }
                group.addTask {
                    await #expect(throws: StoreError.self) { try await fixture.store.cancel(job.claim.jobID) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await fixture.store.unfinishedJobs(queues: nil) == 8)
    }
}
