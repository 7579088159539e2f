import CameoModel
import CameoObjectStorage
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

@Suite(.timeLimit(.minutes(10)))
struct CheckTests {
    private let folder: TemporaryFolder
    private let storage: SharedFolder
    private let fixture: StoreFixture
    private let store: PostgreSQLStore

    init() async throws {
        folder = try TemporaryFolder()
        storage = try SharedFolder(at: folder.path, creating: true)
        fixture = try await StoreFixture()
        let storage = storage
        let place = BytesPlace(chosen: folder.path) { _ in storage }
        store = try PostgreSQLStore(fixture.store.url, bytes: place, clock: fixture.clock.storeClock)
    }

    private func problems() async throws -> [String: String] {
        let findings = try await store.check().filter { $0.severity != .ok }
        return Dictionary(uniqueKeysWithValues: findings.map { ($0.subject, $0.message) })
    }

    private func repair() async throws -> [String: String] {
        let fixed = try await store.repair(in: try await store.freeTurn())
        #expect(fixed.allSatisfy { $0.severity == .mended })
        return Dictionary(uniqueKeysWithValues: fixed.map { ($0.subject, $0.message) })
    }

    /// Completes a job with a large thumbnail.
    private func makeLarge(_ source: String = "file:///large") async throws -> (id: Int64, digest: BlobDigest) {
        let receipt = try await store.enqueue([StoreFixture.request(source)])[0]
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        let bytes = Data("\(source)\(String(repeating: "x", count: 200_000))".utf8)
        let rendered = try StoreFixture.rendered(job, bytes: bytes)
        let product = JobProduct.rendered(rendered, try StoreFixture.provenance(of: source))
        try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
        return (try receipt.jobID, BlobDigest(of: bytes))
    }

    private func file(of digest: BlobDigest) throws -> URL {
        let files = FileManager.default.enumerator(at: URL(filePath: folder.path), includingPropertiesForKeys: nil)
        let names = (files?.allObjects as? [URL] ?? []).filter { url in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && !isFolder.boolValue
                && digest.hex.hasSuffix(url.lastPathComponent)
        }
        return try #require(names.first)
    }

    @Test func tablesOfOtherProgramsAreNamedAndTheRoleWhoseTablesLandThere() async throws {
        let server = try await PostgreSQLServer.shared()
        let name = fixture.schema
        #expect(store.caution == nil)
        // Its unqualified names lead to the schema of its own name.
        try await fixture.sql("CREATE ROLE \(name) LOGIN; GRANT USAGE, CREATE ON SCHEMA \(name) TO \(name)")
        _ = try await server.psql(
            ["-v", "ON_ERROR_STOP=1"],
            input: "CREATE TABLE customer(id int); CREATE VIEW buyer AS SELECT * FROM customer;",
            user: name
        )
        let caution = try #require(try PostgreSQLStore(store.url).caution)
        let cured = "SET search_path TO public"
        #expect(caution.contains("the role \(name) has the name of the schema") && caution.contains(cured))
        func guests() async throws -> CheckFinding {
            try #require(try await fixture.anotherStore().check().first { $0.subject == "guests" })
        }
        let found = try await guests()
        #expect(found.severity == .warning && found.message.hasPrefix("\(caution) (and 2 more)"), "\(found)")
        try await fixture.sql("ALTER ROLE \(name) \(cured)")
        #expect(try await guests().message.hasPrefix("buyer is another program's (and 1 more)"))
        try await fixture.sql("DROP VIEW buyer")
        #expect(try await guests().message.hasPrefix("customer is another program's."))
        try await fixture.sql("DROP TABLE customer")
        #expect(try await guests().severity == .ok)
    }

    @Test func aStoreInUseIsSound() async throws {
        try await fixture.register(in: store)
        _ = try await makeLarge()
        _ = try await store.store(Data("small".utf8), mediaType: nil)
        try await fixture.enqueue(20) { $0.concurrencyKey = "k" }
        _ = try await store.claim(limit: 3, for: "w1")
        let findings = try await store.check()
        try #require(findings.map(\.subject).prefix(4) == ["database", "references", "counters", "limits"])
        #expect(findings.allSatisfy { $0.severity == .ok }, "\(findings)")
        #expect(findings[0].message.hasPrefix("PostgreSQL "))
        #expect(try await repair().isEmpty)
    }

    /// An index whose order changed behind its back, as a new version of a collation does it. Its type is one that no
    /// other table in the database has: an operator class changes the plans of all queries about its type.
    @Test func aDamagedIndexIsFoundByTheServersExtensionAndRebuilt() async throws {
        try await fixture.enqueue(20)
        let order = "FUNCTION app_order(real, real) RETURNS integer IMMUTABLE LANGUAGE sql AS"
        try await fixture.sql(
            """
            CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public;
            CREATE \(order) 'SELECT btfloat4cmp($1, $2)';
            CREATE OPERATOR CLASS app_order FOR TYPE real USING btree AS
              OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 app_order(real, real);
            CREATE INDEX app_task ON task((id::real) app_order);
            """
        )
        #expect(try await problems().isEmpty)
        try await fixture.sql("CREATE OR REPLACE \(order) 'SELECT btfloat4cmp($2, $1)'")
        let fault = try #require(try await problems()["database"])
        #expect(fault.contains("app_task") && fault.contains("--repair"), "\(fault)")
        #expect(try await repair() == ["database": "1 indexes rebuilt from their tables"])
        #expect(try await problems().isEmpty)
    }

    @Test(arguments: ["gone", "damaged", "cut"])
    func aThumbnailWithoutItsBytesIsRemovedAndMadeAgain(damage: String) async throws {
        try await fixture.register(in: store)
        let (id, digest) = try await makeLarge()
        let path = try file(of: digest)
        switch damage {
        case "gone": try FileManager.default.removeItem(at: path)
        case "cut": try Data("x".utf8).write(to: path)
        default: try Data(repeating: 7, count: try Data(contentsOf: path).count).write(to: path)
        }
        #expect(try await problems().keys.sorted() == ["blobs"])
        #expect(try await problems()["blobs"]?.contains(digest.description) == true)
        let fixed = try await repair()
        #expect(fixed["blobs"] == "1 thumbnails with damaged bytes removed, to be made again on request")
        let left = try await problems()
        #expect(left["blobs"] == nil)
        #expect(try await fixture.sql("SELECT count(*) FROM thumbnail") == "0")
        #expect(try await store.enqueue([StoreFixture.request("file:///large")])[0].outcome == .accepted)
        #expect(try await store.job(id).state == .completed)
    }

    @Test func damagedBytesInARowAreFoundAndTheirPinnedBlobStays() async throws {
        let digest = try await store.store(Data("small".utf8), mediaType: nil)
        try await fixture.sql("UPDATE blob SET data = 'SMALL'")
        #expect(try await problems()["blobs"]?.contains(digest.description) == true)
        #expect(try await repair().isEmpty)
        #expect(try await problems()["blobs"]?.contains(digest.description) == true)
    }

    @Test func bytesThatNoRowNamesAreRemovedWhenTheyAreOld() async throws {
        let bytes = Data(repeating: 1, count: 1_000)
        let digest = BlobDigest(of: bytes)
        _ = try await storage.put(bytes, as: digest, mediaType: nil, existing: .replaced)
        // The storage's clock is real, the store's stands in the year 2030.
        #expect(try await problems()["files"]?.contains(digest.description) == true)
        #expect(try await repair() == ["files": "1 bytes removed that no row named"])
        #expect(try await problems().isEmpty)
        #expect(try await fixture.sql("SELECT count(*) FROM blob") == "0")
        #expect(try await fixture.wrongCounts() == "")
    }

    @Test func youngBytesThatNoRowNamesStay() async throws {
        let server = try await PostgreSQLServer.shared()
        let folder = try TemporaryFolder()
        let storage = try SharedFolder(at: folder.path, creating: true)
        let store = try PostgreSQLStore(
            DatabaseURL(server.newURL()),
            bytes: BytesPlace(chosen: folder.path) { _ in storage }
        )
        let bytes = Data(repeating: 1, count: 1_000)
        _ = try await storage.put(bytes, as: BlobDigest(of: bytes), mediaType: nil, existing: .replaced)
        #expect(try await store.repair(in: try await store.freeTurn()).isEmpty)
        #expect(try await store.check().filter { $0.severity == .warning }.map(\.subject) == ["files"])
    }

    @Test func bytesThatAreNowInTheirRowAreNotNeededOutside() async throws {
        let digest = try await store.store(Data("small".utf8), mediaType: nil)
        _ = try await storage.put(Data("small".utf8), as: digest, mediaType: nil, existing: .replaced)
        #expect(try await repair() == ["files": "1 bytes removed that no row named"])
        #expect(try await store.data(of: digest) == Data("small".utf8))
    }

    @Test func namesThatAreNotCameosAreLeftAlone() async throws {
        try Data("mine".utf8).write(to: URL(filePath: "\(folder.path)/notes.txt"))
        #expect(try await problems().keys.sorted() == ["unexpected"])
        #expect(try await repair().isEmpty)
        #expect(FileManager.default.fileExists(atPath: "\(folder.path)/notes.txt"))
    }

    @Test func jobsThatAreNowhereAreQueuedAgain() async throws {
        try await fixture.sql(
            """
            BEGIN; SET LOCAL session_replication_role = replica;
            INSERT INTO job(request) VALUES ('{"source":"file:///row","renditions":[{"width":9}]}'); COMMIT
            """
        )
        #expect(try await problems()["jobs"]?.contains("job 1 is neither") == true)
        #expect(try await repair() == ["jobs": "1 jobs queued that were nowhere"])
        try await fixture.register(in: store)
        try await store.acceptAll()
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])
        #expect(try await problems().isEmpty)
    }

    @Test func rowsThatDisagreeAreFoundAndMended() async throws {
        try await fixture.register(in: store)
        try await fixture.enqueue(4) { $0.concurrencyKey = "k" }
        try await fixture.enqueue(2)
        _ = try await store.claim(limit: 1, for: "w1")
        try await fixture.sql(
            """
            UPDATE lane SET head = NULL;
            UPDATE task SET lane = 999 WHERE id = 6;
            INSERT INTO accepted(id, queue, thumbnails) VALUES (77, 1, '[]');
            UPDATE task SET worker = 'nobody' WHERE state = 2;
            UPDATE queue_count SET available = 40;
            UPDATE total SET value = 9 WHERE name = 'blobs';
            UPDATE task SET hooked = true WHERE id = 5;
            """
        )
        let found = try await problems()
        #expect(found.keys.sorted() == ["attempts", "counters", "hooks", "limits", "references"], "\(found)")
        let fixed = try await repair()
        #expect(fixed.keys.sorted() == ["attempts", "counters", "hooks", "limits", "references"], "\(fixed)")
        #expect(try await problems().isEmpty)
        #expect(try await fixture.wrongCounts() == "")
        #expect(try await store.claim(limit: 9, for: "w1").count == 3, "two without a key and one with it")
    }

    /// As a replication leaves them, which brings rows without their sequences.
    @Test func sequencesBehindTheirTablesAreFoundAndSet() async throws {
        try await fixture.register(in: store)
        _ = try await makeLarge()
        try await fixture.enqueue(3)
        _ = try await store.changes(since: 0, limit: 9)
        try await fixture.sql(
            """
            SELECT setval('job_id_seq', 1, false), setval('queue_id_seq', 1, false), setval('new_change_entry_seq', 1, false)
            """
        )
        #expect(try await problems()["sequences"]?.contains("job_id_seq has not reached 4") == true)
        #expect(try await repair()["sequences"] == "3 sequences set to what rows have reached")
        #expect(try await problems().isEmpty)
        let known = try await store.lastChange()
        try await fixture.enqueue { $0.queue = "another" }
        #expect(try await store.changes(since: known, limit: 9).count == 1)
    }

    @Test func ofTwoOutcomesTheLastIsKept() async throws {
        try await fixture.register(in: store)
        let id = try await makeLarge().id
        try await fixture.sql(
            """
            CREATE TEMPORARY TABLE another AS SELECT * FROM outcome;
            UPDATE another SET finalized_at = finalized_at + 1, number = 2, state = 6;
            INSERT INTO outcome SELECT * FROM another
            """
        )
        #expect(try await problems()["jobs"]?.contains("job \(id) has two outcomes") == true)
        _ = try await store.status()
        _ = try await store.jobs(JobFilter())
        #expect(try await repair()["jobs"] == "1 outcomes removed that were not a job's last")
        #expect(try await problems().isEmpty)
        #expect(try await store.job(id).state == .cancelled)
        #expect(try await fixture.sql("SELECT string_agg(number::text, ' ' ORDER BY number) FROM attempt") == "1 2")
    }

    @Test func anotherMaintenanceKeepsARepairAway() async throws {
        let turn = try await store.freeTurn()
        try await fixture.sql("UPDATE maintenance SET holder = 'another'")
        await #expect(throws: StoreError.busy(path: store.location)) { try await store.repair(in: turn) }
    }
}
