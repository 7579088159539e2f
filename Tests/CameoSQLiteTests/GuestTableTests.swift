import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Tables of other programs in the store's file.
@Suite(.timeLimit(.minutes(10)))
struct GuestTableTests {
    /// The statements given in `proto-json/README.md`.
    private static func block(with words: String) throws -> String {
        let text = try String(contentsOf: Repository.file("proto-json/README.md"), encoding: .utf8)
        let blocks = text.components(separatedBy: "```sql\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        return try #require(blocks.first { $0.contains(words) })
    }

    /// The documented tables, plus a view.
    private static func photos() throws -> String {
        try block(with: "CREATE TRIGGER app_photo_enqueue") + """
            CREATE VIEW app_progress AS
              SELECT path, state FROM app_photo JOIN job_status ON job_status.id = app_photo.job;
            """
    }

    private func sql(_ text: String, _ path: String) async throws -> String {
        let script = ".bail on\n.timeout 120000\nPRAGMA wal_autocheckpoint=0;\n\(text)\n"
        let result = try await run("sqlite3", ["\(path)/cameo.sqlite"], input: Data(script.utf8))
        try #require(result.exitStatus == 0, "\(result.errorText)")
        return result.outputText.split(separator: "\n").dropFirst().joined(separator: "\n")
    }

    private func guests(_ store: SQLiteStore) async throws -> CheckFinding {
        try #require(try await store.check().first { $0.subject == "guests" })
    }

    @Test func movedRowsAreRecognisedTheSecondTime() async throws {
        let fixture = try StoreFixture()
        let move = try Self.block(with: "INSERT OR IGNORE INTO app_moved") + "SELECT changes();"
        #expect(try await sql(move, fixture.path) == "1")
        #expect(try await sql(move, fixture.path) == "0")
    }

    /// The program only inserts into its own table.
    @Test func aProgramsTriggerEnqueuesInItsTransaction() async throws {
        let fixture = try StoreFixture()
        let insert = "INSERT INTO app_photo(path) VALUES ('file:///a.jpg')"
        _ = try await sql(
            "PRAGMA recursive_triggers=ON; \(try Self.photos()) BEGIN; \(insert); ROLLBACK; \(insert);",
            fixture.path
        )
        let bad = try await run("sqlite3", ["\(fixture.path)/cameo.sqlite", "INSERT INTO app_photo(path) VALUES ('')"])
        #expect(bad.errorText.contains("source must be a non-empty string"))
        #expect(
            try await sql("SELECT * FROM app_progress; SELECT count(*) FROM app_photo;", fixture.path)
                == "file:///a.jpg|available\n1"
        )
        #expect(try await fixture.store.claim(limit: 10, for: "w1").map(\.claim.jobID) == [1])
    }

    @Test func maintenanceLeavesGuestTablesAlone() async throws {
        let fixture = try StoreFixture()
        _ = try await sql(
            "\(try Self.photos()) INSERT INTO app_photo(path) VALUES ('file:///a.jpg'), ('file:///b.jpg');",
            fixture.path
        )
        _ = try await fixture.store.cancel(1)
        fixture.clock.advance(seconds: 90 * 86_400)
        let turn = try await fixture.store.freeTurn()
        #expect(try await fixture.store.prune(Retention(), in: turn).cancelled == 1)
        #expect(try await fixture.store.repair(in: turn) == [])
        try await fixture.store.vacuum(in: turn)
        let copy = fixture.folder.path("copy")
        _ = try await fixture.store.backUp(to: copy, in: turn)
        let rows = "SELECT * FROM app_photo; SELECT path, state FROM app_progress;"
        for path in [fixture.path, copy] {
            #expect(try await sql(rows, path) == "1|file:///a.jpg|1\n2|file:///b.jpg|2\nfile:///b.jpg|available")
        }
        let finding = try await guests(try SQLiteStore(at: copy))
        #expect(finding.severity == .ok && finding.message.hasSuffix("app_photo"), "\(finding.message)")
    }

    @Test(arguments: [
        ("CREATE TABLE photo(a)", "photo of another program has a name that a later version"),
        (
            "CREATE TRIGGER app_t AFTER INSERT ON job BEGIN SELECT 1; END",
            "app_t of another program is on Cameo's table job"
        ),
        ("CREATE UNIQUE INDEX app_i ON job(request)", "index app_i of another program is on Cameo's table job"),
        (
            "CREATE TABLE app_b(job INTEGER REFERENCES Job(id))",
            "app_b of another program has a foreign key to Cameo's table Job"
        ),
        (
            "CREATE TABLE app_a(job INTEGER REFERENCES job(id))",
            "app_a of another program has a foreign key to Cameo's table job"
        ),
    ])
    func aCheckReportsInterferenceWithCameosTables(statement: String, problem: String) async throws {
        let fixture = try StoreFixture()
        #expect(try await guests(fixture.store).message == "no other program keeps tables here")
        _ = try await sql("\(statement);", fixture.path)
        let finding = try await guests(fixture.store)
        #expect(finding.severity == .warning && finding.message.contains(problem), "\(finding.message)")
    }

    /// References between another program's tables are not checked.
    @Test func aCheckIgnoresReferencesBetweenGuestTables() async throws {
        let fixture = try StoreFixture()
        let tables = """
            CREATE TABLE app_a(id INTEGER PRIMARY KEY, b INTEGER REFERENCES app_b(id)); CREATE TABLE app_b(id INTEGER);
            INSERT INTO app_a(b) VALUES (7);
            """
        _ = try await sql(tables, fixture.path)
        #expect(try await fixture.store.check().filter { $0.severity != .ok } == [])
    }

    @Test func aCheckReportsDroppedTables() async throws {
        let fixture = try StoreFixture()
        _ = try await sql("DROP TRIGGER job_is_kept;", fixture.path)
        let finding = try #require(try await fixture.store.check().first { $0.subject == "schema" })
        #expect(finding.severity == .error && finding.message.hasPrefix("job_is_kept is missing"))
    }

    /// One bit of a rule was flipped on the disk: no worker can be registered any more, though the schema is valid SQL.
    @Test func aCheckReportsChangedDefinitions() async throws {
        let fixture = try StoreFixture()
        let change = """
            .dbconfig defensive off
            PRAGMA writable_schema=ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'a worker''s id', 'a vorker''s id') WHERE name = 'worker';
            """
        _ = try await sql(change, fixture.path)
        let finding = try #require(try await fixture.store.check().first { $0.subject == "schema" })
        #expect(finding.severity == .error && finding.message.hasPrefix("worker is not defined as by Cameo"))
    }
}
