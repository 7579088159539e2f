import CameoModel
import CameoObjectStorage
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// What operators and restores do to a database, none of which may lose jobs or bytes.
@Suite(.timeLimit(.minutes(10)))
struct ProtectionTests {
    private let fixture: StoreFixture
    private let server: PostgreSQLServer

    init() async throws {
        (fixture, server) = (try await StoreFixture(), try await .shared())
    }

    @Test func everyTableHasAKey() async throws {
        let without = try await fixture.sql(
            """
            SELECT relname FROM pg_class WHERE relnamespace = '\(fixture.schema)'::regnamespace AND relkind IN ('r', 'p')
              AND NOT EXISTS (SELECT 1 FROM pg_index WHERE indrelid = pg_class.oid AND indisprimary)
            """
        )
        #expect(without == "")
    }

    /// A publication of all tables forbids to change those without a key. One of a schema's tables does the same, and
    /// leaves the other tests' alone.
    @Test func leasesClaimsAndEndsGoOnUnderAPublication() async throws {
        try await fixture.sql("CREATE PUBLICATION all_of_it FOR TABLES IN SCHEMA \(fixture.schema)")
        try await fixture.register()
        try await fixture.enqueue(3)
        let jobs = try await fixture.store.claim(limit: 2, for: "w1")
        try await fixture.store.complete(jobs[0])
        fixture.clock.advance(seconds: 10)
        var counted = StoreCounters()
        counted.add(1, to: .retriedFailures, "source.timeout")
        try await fixture.store.extendLease(of: "w1", adding: counted)
        #expect(try await fixture.sql("SELECT count(*) FROM queue_delta") == "0")
        fixture.clock.advance(seconds: 10)
        try await fixture.register("w2")
        #expect(try await fixture.store.rescueExpired(except: "w2").workers == [])
        try await fixture.store.fail(jobs[1].claim, with: JobFailure(.sourceTimeout, at: .fetch, "slow"))
        let bytes = Data("picture".utf8)
        try await fixture.store.keep(StoreFixture.original(bytes), data: bytes, budget: nil)
        _ = try await fixture.store.forgetSource(StoreFixture.uri, .originals)
        _ = try await fixture.store.prune(Retention(), in: try await fixture.store.freeTurn())
        #expect(try await fixture.wrongCounts() == "")
    }

    /// A lease is durable whatever happens to the counts that are folded with it.
    @Test func aLeaseIsExtendedThoughUpkeepFails() async throws {
        try await fixture.register()
        try await fixture.enqueue(1)
        try await fixture.sql(
            """
            CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
            CREATE TRIGGER no BEFORE DELETE ON queue_delta FOR EACH STATEMENT EXECUTE FUNCTION no();
            """
        )
        fixture.clock.advance(seconds: 10)
        await #expect(throws: StoreError.self) { try await fixture.store.extendLease(of: "w1") }
        let lease = try await fixture.sql("SELECT lease_until FROM worker")
        #expect(Int64(lease) == fixture.clock.now.milliseconds + Lease.betweenMachines)
    }

    @Test(arguments: [
        "TRUNCATE job CASCADE", "TRUNCATE task", "TRUNCATE upload", "TRUNCATE queue CASCADE",
        "TRUNCATE job, task CASCADE",
    ])
    func tablesAreNotEmptiedWhileThereAreUnfinishedJobs(statement: String) async throws {
        try await fixture.register()
        try await fixture.enqueue(1)
        await #expect(throws: PostgreSQLServer.Failure.self) { try await fixture.sql(statement) }
        let job = try #require(try await fixture.store.claim(limit: 1, for: "w1").first)
        await #expect(throws: PostgreSQLServer.Failure.self) { try await fixture.sql(statement) }
        try await fixture.store.complete(job)
        try await fixture.sql(statement)
    }

    // MARK: - Dumps

    /// Copies rows by `pg_dump --data-only`, and with the tables by `pg_dump`, into another schema.
    private func restore(_ options: [String], renaming schema: String, creating: Bool) async throws -> PostgreSQLStore {
        let dump = try await run(
            "\(server.programs)/pg_dump",
            ["-h", server.folder, "-U", "cameo", "-d", "postgres", "-n", fixture.schema, "--no-owner"] + options
        )
        try #require(dump.exitStatus == 0, "\(dump.errorText)")
        let url = try DatabaseURL(server.url(ofSchema: schema))
        if creating { _ = try PostgreSQLStore(url, clock: fixture.clock.storeClock) }
        let script = dump.outputText.replacing("\(fixture.schema).", with: "\(schema).")
            .replacing("SCHEMA \(fixture.schema)", with: "SCHEMA \(schema)")
            .replacing("'\(fixture.schema)'", with: "'\(schema)'")
        // Rows that the new tables have already are refused, each table's by itself, and the restore goes on.
        _ = try await server.psql([], input: script)
        return try PostgreSQLStore(url, clock: fixture.clock.storeClock)
    }

    @Test(arguments: [[], ["--disable-triggers"]])
    func aRestoreOfRowsAloneDiscardsNoJob(options: [String]) async throws {
        try await fixture.register()
        try await fixture.enqueue(3)
        let jobs = try await fixture.store.claim(limit: 2, for: "w1")
        try await fixture.store.complete(jobs[0])
        try await fixture.store.discard([jobs[1]], JobFailure(.sourceNotFound, at: .fetch, "gone"))
        try await fixture.sql(#"INSERT INTO upload(data, request) VALUES ('\x01', '{"renditions":[{"width":64}]}')"#)
        try await fixture.store.acceptAll()
        try await fixture.sql(#"INSERT INTO upload(data, request) VALUES ('\x02', '{"renditions":[{"width":64}]}')"#)
        let states = "SELECT id, state, attempt FROM job_status ORDER BY id"
        let before = try await fixture.sql(states)
        let name = "\(fixture.schema)_rows\(options.count)"
        let copy = try await restore(["--data-only"] + options, renaming: name, creating: true)
        try await copy.acceptAll()
        #expect(copy.takeRefused().isEmpty)
        #expect(try await server.sql(states, schema: name) == before)
        try await fixture.register("w2", in: copy)
        let claimed = try await copy.claim(limit: 9, for: "w2")
        #expect(claimed.map(\.claim.jobID).sorted() == [3, 4, 5])
        #expect(claimed.filter { $0.claim.jobID > 3 }.map(\.uploadedBytes) == [1, 1], "\(claimed)")
        // What the new tables had already came to nothing.
        _ = try await copy.repair(in: try await copy.freeTurn())
        #expect(try await copy.check().allSatisfy { $0.severity != .error })
    }

    // MARK: - Bytes

    private func storage(in folder: TemporaryFolder) throws -> SharedFolder {
        try SharedFolder(at: folder.path, creating: true)
    }

    private func open(_ url: DatabaseURL, _ storage: SharedFolder) throws -> PostgreSQLStore {
        let place = BytesPlace(chosen: storage.location) { _ in storage }
        return try PostgreSQLStore(url, bytes: place, clock: fixture.clock.storeClock)
    }

    /// In another schema, whose tables have the same identity; another database's differ in its number too.
    private func copied(_ storage: SharedFolder) async throws -> PostgreSQLStore {
        let name = "\(fixture.schema)_copy"
        let copy = try await restore([], renaming: name, creating: false)
        _ = try await server.sql("UPDATE schema_version SET identity = 'of another database'", schema: name)
        return try open(copy.url, storage)
    }

    @Test func aRestoredDumpReadsBytesAndRemovesNone() async throws {
        let folder = try TemporaryFolder()
        let storage = try storage(in: folder)
        let (old, large) = (Data(repeating: 1, count: 200_000), Data(repeating: 2, count: 200_000))
        let store = try open(fixture.store.url, storage)
        let digest = try await store.store(old, mediaType: nil)
        #expect(try await store.othersBytes() == nil)
        let copy = try await copied(storage)
        let others = try #require(try await copy.othersBytes())
        #expect(others.location == folder.path && others.owner.hasPrefix("store "))
        #expect(try await copy.data(of: digest) == old)
        // What it makes itself is in its own rows.
        let own = try await copy.store(large, mediaType: nil)
        #expect(try await copy.data(of: own) == large)
        #expect(try await storage.list(after: nil, limit: 9).objects.map(\.digest) == [digest])
        // Neither what it needs no longer nor what it does not know is removed.
        _ = try await server.sql(
            "UPDATE blob SET pinned = false, created_at = 0; DELETE FROM orphan; INSERT INTO orphan SELECT digest, 0 FROM blob",
            schema: copy.url.schema
        )
        #expect(try await copy.collectBlobs(unreferencedSince: .now + 9_999, atMost: 9).count == 1)
        _ = try await server.sql("UPDATE epoch SET since = 0; DELETE FROM blob", schema: copy.url.schema)
        fixture.clock.advance(seconds: 9_999)
        _ = try await copy.repair(in: try await copy.freeTurn())
        #expect(try await store.data(of: digest) == old)
        #expect(try await copy.check().first { $0.subject == "owner" }?.severity == .warning)
        // Until it is told to take over.
        #expect(try await copy.adoptBytes() == others)
        #expect(try await copy.othersBytes() == nil)
        #expect(try await store.othersBytes() != nil)
        _ = try await copy.repair(in: try await copy.freeTurn())
        #expect(try await storage.list(after: nil, limit: 9).objects.isEmpty)
    }

    @Test func anotherStoreOnTheSameFolderKeepsItsBytesInItsRows() async throws {
        let folder = try TemporaryFolder()
        let storage = try storage(in: folder)
        let store = try open(fixture.store.url, storage)
        let digest = try await store.store(Data(repeating: 1, count: 200_000), mediaType: nil)
        let other = try open(DatabaseURL(server.newURL()), storage)
        let own = try await other.store(Data(repeating: 2, count: 200_000), mediaType: nil)
        #expect(try await other.othersBytes() != nil)
        #expect(try await other.data(of: own).count == 200_000)
        fixture.clock.advance(seconds: 9_999)
        _ = try await other.repair(in: try await other.freeTurn())
        #expect(try await storage.list(after: nil, limit: 9).objects.map(\.digest) == [digest])
    }

    /// The mark names the tables and the database, and nothing that a failover changes.
    @Test func aStoreThatIsOpenedAgainStaysTheOwner() async throws {
        let folder = try TemporaryFolder()
        let storage = try storage(in: folder)
        _ = try await open(fixture.store.url, storage).store(Data(repeating: 1, count: 200_000), mediaType: nil)
        #expect(try await open(fixture.store.url, storage).othersBytes() == nil)
        let mark = try #require(try await storage.owner())
        let system = try await fixture.sql("SELECT system_identifier FROM pg_control_system()")
        let identity = try await fixture.sql("SELECT identity FROM schema_version")
        #expect(mark.contains(system) && mark.contains(identity))
    }

    /// Its bytes were there before its tables.
    @Test func bytesThatAreOlderThanTheTablesStay() async throws {
        let folder = try TemporaryFolder()
        let storage = try storage(in: folder)
        let store = try open(fixture.store.url, storage)
        let bytes = Data(repeating: 1, count: 200_000)
        _ = try await storage.put(bytes, as: BlobDigest(of: bytes), mediaType: nil, existing: .kept)
        fixture.clock.advance(seconds: 99_999)
        try await fixture.sql("UPDATE epoch SET since = \(Date.now.milliseconds + 9_999)")
        _ = try await store.repair(in: try await store.freeTurn())
        #expect(try await storage.list(after: nil, limit: 9).objects.count == 1)
        try await fixture.sql("UPDATE epoch SET since = 0")
        _ = try await store.repair(in: try await store.freeTurn())
        #expect(try await storage.list(after: nil, limit: 9).objects.isEmpty)
    }
}
