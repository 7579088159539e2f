import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Indexes that disagree with their tables.
@Suite(.timeLimit(.minutes(10)))
struct IndexRepairTests {
    private let fixture: StoreFixture
    private var store: SQLiteStore { fixture.store }

    /// Creates three waiting jobs.
    init() async throws {
        fixture = try StoreFixture()
        try await fixture.enqueue(3)
    }

    /// Newer shells of SQLite (Debian 13) defend the schema against SQL, unless told not to.
    private static let writableSchema = """
        .dbconfig defensive off
        PRAGMA writable_schema = ON;
        """

    /// Runs the statements while some indexes are hidden, so that they are not updated.
    private func withoutIndexes(_ names: [String], _ statements: String) async throws {
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        _ = try await fixture.sql(
            """
            \(Self.writableSchema)
            CREATE TEMP TABLE kept AS SELECT rowid AS n, * FROM sqlite_schema WHERE name IN (\(list));
            DELETE FROM sqlite_schema WHERE name IN (\(list));
            PRAGMA writable_schema = RESET;
            \(statements);
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_schema(rowid, type, name, tbl_name, rootpage, sql) SELECT * FROM kept;
            PRAGMA writable_schema = RESET;
            """
        )
    }

    private func check(_ subject: String = "database") async throws -> CheckFinding {
        try #require(try await store.check().first { $0.subject == subject })
    }

    private func repair() async throws -> [CheckFinding] {
        try await store.repair(in: try await store.freeTurn())
    }

    private static let rebuilt = "all indexes rebuilt from their tables"
    private static let insert =
        #"INSERT INTO job(request) VALUES ('{"source":"file:///new.jpg","renditions":[{"width":64}]}')"#

    /// Changes missing from the index of due times and from the index of ranks.
    private static let sooner = "UPDATE task SET due = due - 1"
    private static let behind = "UPDATE task SET rank = rank + 1"

    /// Indexes that lack a row or have an extra one.
    @Test(
        arguments: [
            (["task_waiting"], sooner), (["task_ready"], behind),
            (["task_ready", "task_waiting", "task_due"], "\(sooner); \(behind)"),
            (["task_ready"], "\(behind) WHERE id = 2"), (["orphan_since"], "INSERT INTO orphan VALUES ('new', 1)"),
            (["orphan_since"], "DELETE FROM orphan"),
        ]
    )
    func aDamagedIndexIsRebuiltFromItsTable(names: [String], statements: String) async throws {
        _ = try await fixture.sql("INSERT INTO orphan VALUES ('old', 1)")
        try await withoutIndexes(names, statements)
        let found = try await check()
        #expect(found.severity == .error)
        #expect(found.message.contains(" index ") && found.message.contains("--repair"), "\(found.message)")
        #expect(!found.message.contains(".recover"))
        #expect(try await repair().map(\.message) == [Self.rebuilt])
        #expect(try await store.check().allSatisfy { $0.severity == .ok || $0.subject == "sandbox" })
        #expect(try await repair() == [])
    }

    /// A row that is missing from an index cannot even be changed.
    @Test func aJobLostByAnIndexIsClaimedAndCompletedAfterwards() async throws {
        try await withoutIndexes(["task_ready"], "\(Self.behind); \(Self.insert)")
        _ = try await repair()
        try await fixture.register()
        let jobs = try await store.claim(limit: 10, for: "w1")
        #expect(jobs.map(\.claim.jobID).sorted() == [1, 2, 3, 4])
        for job in jobs { try await store.release(job.claim) }
        #expect(try await store.check().allSatisfy { $0.severity != .error })
    }

    /// Each of two tables has more faulty rows than a check reads, whichever table SQLite reads first.
    @Test func anIndexBehindManyFaultsIsRebuiltToo() async throws {
        try await fixture.enqueue(12)
        let orphans = "INSERT INTO orphan SELECT 'orphan ' || id, 1 FROM job"
        try await withoutIndexes(["task_waiting", "orphan_since"], "\(Self.sooner); \(orphans)")
        let mended = try await repair()
        #expect(mended.map(\.message) == [Self.rebuilt])
        #expect(try await check().severity == .ok)
    }

    /// Nothing tells which of the rows is right.
    @Test func duplicateRowsAreReportedAndNothingIsRebuilt() async throws {
        _ = try await fixture.sql(
            "CREATE TABLE app_own(name TEXT, n INTEGER); CREATE UNIQUE INDEX app_name ON app_own(name)"
        )
        try await withoutIndexes(
            ["app_name", "task_waiting"],
            "INSERT INTO app_own VALUES ('a', 1), ('a', 2), ('b', 3); \(Self.sooner)"
        )
        let refused = await #expect(throws: StoreError.self) { try await repair() }
        #expect(refused?.description.contains("UNIQUE constraint failed: app_own.name") == true, "\(refused as Any)")
        #expect(try await check().severity == .error)
        #expect(try await fixture.sql("SELECT count(*) FROM app_own NOT INDEXED") == "3")
        // No row can be changed while an index lacks it.
        _ = try await fixture.sql(
            "DROP INDEX app_name; DELETE FROM app_own WHERE n = 2; CREATE UNIQUE INDEX app_name ON app_own(name)"
        )
        #expect(try await repair().map(\.message) == [Self.rebuilt])
        #expect(try await check().severity == .ok)
    }

    /// A rebuild would use pages from the damaged free list.
    @Test func nothingIsRebuiltBesideDamagedPages() async throws {
        try await withoutIndexes(["task_waiting"], Self.sooner)
        store.close()
        let copy = try TemporaryFolder()
        let copied = try await run("cp", ["-r", fixture.path, copy.path("store")])
        try #require(copied.exitStatus == 0)
        // The count of free pages (https://www.sqlite.org/fileformat2.html#the_database_header).
        let file = try FileHandle(forWritingTo: URL(filePath: copy.path("store/cameo.sqlite")))
        try file.seek(toOffset: 36)
        try file.write(contentsOf: Data([0, 0, 0, 7]))
        try file.close()
        let damaged = try SQLiteStore(at: copy.path("store"))
        let mended = try await damaged.repair(in: try await damaged.freeTurn())
        #expect(mended == [])
        let found = try await damaged.check().first { $0.subject == "database" }
        #expect(found?.message.contains(".dump") == true, "\(found?.message ?? "")")
    }

    /// Includes the messages of newer SQLite versions.
    @Test(
        arguments: [
            ("row 5 missing from index task_waiting", IntegrityFault.index),
            ("wrong # of entries in index a b", .index), ("row 3 values differ from index x", .index),
            ("rowid not at end-of-record for row 3 of index x", .index),
            ("*** in database main ***\nTree 19 page 19: btreeInitPage() returns error code 11", .page),
            ("*** in database main ***\nTree 19: row 5 missing from index x", .page),
            ("database disk image is malformed", .page), ("NULL value in job.state", .row),
            ("CHECK constraint failed in job", .row), ("non-INTEGER value in job.rank", .row),
            ("non-unique entry in index task_unique", .row),
        ]
    )
    func aFaultIsOfAnIndexARowOrAPage(message: String, fault: IntegrityFault) {
        #expect(IntegrityFault(message) == fault)
    }

    /// The row is left as it is for somebody who knows what it should be.
    @Test func anIndexIsRebuiltDespiteAConstraintViolation() async throws {
        try await withoutIndexes(
            ["task_waiting"],
            "PRAGMA ignore_check_constraints = ON; UPDATE task SET attempt = -1 WHERE id = 1; \(Self.sooner)"
        )
        let found = try await check().message
        #expect(found.contains("rebuilds their indexes") && found.contains("Use sqlite3") && !found.contains(".dump"))
        #expect(try await repair().map(\.message) == [Self.rebuilt])
        let left = try await check()
        #expect(left.message.hasPrefix("CHECK constraint failed in task. Use sqlite3"), "\(left.message)")
    }

    /// The constraint uses a function that only its own program has.
    @Test func aConstraintThatOnlyItsProgramCanEvaluateDoesNotPreventChecks() async throws {
        _ = try await fixture.sql("CREATE TABLE app_own(n INTEGER CHECK (n > 0))")
        _ = try await fixture.sql(
            """
            \(Self.writableSchema)
            UPDATE sqlite_schema SET sql = 'CREATE TABLE app_own(n INTEGER CHECK (own_function(n)))'
              WHERE name = 'app_own';
            """
        )
        let found = try await check()
        #expect((found.severity, found.message) == (.ok, "its pages and indexes are sound"))
    }
}
