import CameoModel
import Foundation
import TestSupport
import Testing

@testable import CameoStore

/// Programs of several versions on one store: one of them brings the tables up to date while others have it open.
@Suite(.timeLimit(.minutes(10)))
struct MixedVersionTests {
    private static let request = #"{"source":"file:///pictures/%.jpg","renditions":[{"width":64,"height":64}]}"#

    /// What a program of a version to come might do to the tables.
    private func takeOver(_ path: String) async throws {
        let script = """
            PRAGMA busy_timeout=120000; PRAGMA wal_autocheckpoint=0;
            BEGIN IMMEDIATE;
            ALTER TABLE job ADD COLUMN novelty TEXT;
            CREATE TRIGGER job_novelty AFTER UPDATE OF state ON job BEGIN
              UPDATE job SET novelty = NEW.state WHERE id = NEW.id;
            END;
            DROP VIEW job_status;
            CREATE VIEW job_status AS SELECT id, state, novelty FROM job;
            PRAGMA user_version = 99;
            COMMIT;
            """
        let result = try await run("sqlite3", ["-bail", "\(path)/cameo.sqlite"], input: Data(script.utf8))
        try #require(result.exitStatus == 0, "\(result.errorText)")
    }

    @Test func whatIsNewIsRefusedByNameUnderTheTablesOfANewerVersion() async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        try await fixture.enqueue(2)
        #expect(try await fixture.store.refusalOfNewerSchema() == nil)
        try await takeOver(fixture.path)
        let refusal = StoreError.newerSchema(path: fixture.path, found: 99, supported: Schema.currentVersion)
        #expect(try await fixture.store.refusalOfNewerSchema() == refusal)
        await #expect(throws: refusal) { try await fixture.enqueue() }
        await #expect(throws: refusal) { try await fixture.store.claim(limit: 1, for: "w1") }
        await #expect(throws: refusal) { try await fixture.store.cancel(1) }
        await #expect(throws: refusal) { _ = try await fixture.store.pause("default") }
        await #expect(throws: refusal) { try await fixture.store.store(Data("bytes".utf8), mediaType: nil) }
        #expect(try await fixture.store.states(of: [1, 2, 3]) == [1: .available, 2: .available])
    }

    @Test func whatWasBegunIsEndedUnderTheTablesOfANewerVersion() async throws {
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
        try await fixture.store.fail(jobs[1].claim, with: failure, retryAt: nil, timings: AttemptTimings())
        try await fixture.store.release(jobs[2].claim)
        try await fixture.store.deregister(registration)
        let states = try await fixture.store.states(of: [1, 2, 3, 4])
        #expect(states == [1: .completed, 2: .discarded, 3: .available, 4: .available])
        let look = try await run("sqlite3", ["\(fixture.path)/cameo.sqlite", "SELECT group_concat(novelty) FROM job"])
        #expect(look.outputText == "completed,discarded,available,available\n", "the newer version's rules held")
    }

    /// A write that waits in one group with one that is refused is not touched by that.
    @Test func oneGroupRefusesOnlyWhatIsNew() async throws {
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

    /// A producer of an older time has the store open and goes on inserting, on the same connection, while eight openers
    /// at once bring the tables to this version: nobody is told that the database is locked, and no row is lost.
    @Test(arguments: 1..<Schema.currentVersion)
    func producersGoOnWhileTheTablesAreBroughtUpToDate(from version: Int) async throws {
        let scripts = [Schema.version1, Schema.version2, Schema.version3, Schema.version4].prefix(version)
        try #require(scripts.count == version, "a version has come that has no script here")
        let folder = try TemporaryFolder()
        let script = """
            PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
            \(scripts.joined(separator: "\n"))
            PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(scripts.count);
            """
        let made = try await run("sqlite3", ["-bail", folder.path("cameo.sqlite")], input: Data(script.utf8))
        try #require(made.exitStatus == 0, "\(made.errorText)")
        // Writes until it has seen the new version, and ten times more.
        let producer = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
            db.execute("PRAGMA wal_autocheckpoint=0")
            count = left = 10
            while left:
                db.execute("INSERT INTO job(request) VALUES (?)", (sys.argv[2].replace("%", str(count)),))
                count += 1
                left -= db.execute("PRAGMA user_version").fetchone()[0] == int(sys.argv[3])
            print(count - 10)
            """
        let arguments = ["-c", producer, folder.path("cameo.sqlite"), Self.request, "\(Schema.currentVersion)"]
        async let producing = run("/usr/bin/python3", arguments)
        while try await run("sqlite3", [folder.path("cameo.sqlite"), "SELECT count(*) FROM job"]).outputText == "0\n" {}
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = try Store(at: folder.path) } }
            try await group.waitForAll()
        }
        let result = try await producing
        let count = try #require(Int(result.outputText.dropLast()), "\(result.errorText)")
        let store = try Store(at: folder.path)
        #expect(try await store.check().filter { $0.severity == .error } == [])
        #expect(try await store.claim(limit: 100_000, for: "w1").count == count)
    }
}
