import CameoModel
import CameoStore
import Foundation
import GRDB
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
        let damaged = try await store.read { db in try IntegrityFault.rebuildableIndexes(db) }
        #expect(!damaged.isEmpty && damaged.isSubset(of: names))
        let list = damaged.sorted().joined(separator: ", ")
        #expect(
            try await repair().map(\.message) == ["\(damaged.count) indexes rebuilt from their tables: \(list)"]
        )
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
        #expect(mended.map(\.message) == ["2 indexes rebuilt from their tables: orphan_since, task_waiting"])
        #expect(try await check().severity == .ok)
    }

    @Test func ofSeveralJobsWaitingUnderOneKeyTheFirstIsKept() async throws {
        try await withoutIndexes(
            ["task_unique"],
            """
            UPDATE task SET unique_key = 'same'; INSERT INTO batch SELECT id, 'b' || id FROM job;
            INSERT INTO batch_job(batch, job_id) SELECT id, id FROM job
            """
        )
        #expect(try await check().message.contains("index task_unique"))
        #expect(try await check().message.contains("--repair"))
        let mended = try await repair()
        #expect(
            mended.map(\.message) == [
                "1 indexes rebuilt from their tables: task_unique",
                "2 jobs cancelled because others wait for the same thumbnails",
            ]
        )
        let jobs = try await store.jobs(JobFilter()).sorted { $0.id < $1.id }
        #expect(jobs.map(\.state) == [.available, .cancelled, .cancelled])
        #expect(jobs.map(\.failure?.code) == [nil, .jobSuperseded, .jobSuperseded])
        let batches = "SELECT group_concat(name) FROM batch_job JOIN batch ON batch.id = batch WHERE job_id = 1"
        #expect(try await fixture.sql(batches) == "b1,b2,b3")
        #expect(try await store.check().allSatisfy { $0.severity == .ok || $0.subject == "sandbox" })
        #expect(try await fixture.sql("SELECT sql FROM sqlite_schema WHERE name = 'task_unique'").contains("UNIQUE"))
    }

    /// Nothing tells which of the rows is right.
    @Test func duplicateRowsAreReportedAndTheOtherIndexesRebuilt() async throws {
        _ = try await fixture.sql(
            "CREATE TABLE app_own(name TEXT, n INTEGER); CREATE UNIQUE INDEX app_name ON app_own(name)"
        )
        try await withoutIndexes(
            ["app_name", "task_waiting"],
            "INSERT INTO app_own VALUES ('a', 1), ('a', 2), ('b', 3); \(Self.sooner)"
        )
        let duplicates = #"the table app_own has duplicate values of "name" (1)"#
        #expect(try await check().message.contains(duplicates))
        let mended = try await repair()
        #expect(mended.map(\.message) == ["1 indexes rebuilt from their tables: task_waiting"])
        let left = try await check()
        #expect(left.severity == .error && left.message.contains(duplicates) && left.message.contains(".dump"))
        #expect(try await fixture.sql("SELECT count(*) FROM app_own NOT INDEXED") == "3")
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
        let faults = try await damaged.read { db in try IntegrityFault.found(db, atMost: 100) }
        try #require(faults.contains { $0.message.contains("missing from index task_waiting") }, "\(faults)")
        try #require(faults.contains { if case .page = $0 { true } else { false } }, "\(faults)")
        let mended = try await damaged.repair(in: try await damaged.freeTurn())
        #expect(mended == [])
        let found = try await damaged.check().first { $0.subject == "database" }
        #expect(found?.message.contains(".dump") == true, "\(found?.message ?? "")")
    }

    /// Includes the messages of newer SQLite versions.
    @Test(
        arguments: [
            ("row 5 missing from index task_waiting", "task_waiting"), ("wrong # of entries in index a b", "a b"),
            ("non-unique entry in index task_unique", "task_unique"), ("row 3 values differ from index x", "x"),
            ("rowid not at end-of-record for row 3 of index x", "x"),
        ]
    )
    func aFaultOfAnIndexNamesIt(message: String, name: String) {
        #expect(IntegrityFault(message) == .index(name, message: message))
    }

    @Test(arguments: [
        "*** in database main ***\nTree 19 page 19: btreeInitPage() returns error code 11",
        "database disk image is malformed",
    ])
    func everyOtherFaultMayBeOfAPage(message: String) {
        #expect(IntegrityFault(message) == .page(message))
    }

    @Test(arguments: ["NULL value in job.state", "CHECK constraint failed in job", "non-INTEGER value in job.rank"])
    func aFaultOfARowIsNeitherAPagesNorAnIndexes(message: String) {
        #expect(IntegrityFault(message) == .row(message))
    }

    /// The row is left as it is for somebody who knows what it should be.
    @Test func anIndexIsRebuiltDespiteAConstraintViolation() async throws {
        try await withoutIndexes(
            ["task_waiting"],
            "PRAGMA ignore_check_constraints = ON; UPDATE task SET attempt = -1 WHERE id = 1; \(Self.sooner)"
        )
        let found = try await check().message
        #expect(found.contains("rebuilds their indexes") && found.contains("Use sqlite3") && !found.contains(".dump"))
        #expect(try await repair().map(\.message) == ["1 indexes rebuilt from their tables: task_waiting"])
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

    /// Neither NULLs nor expressions make rows duplicates.
    @Test func rowsThatAUniqueIndexAllowsAreNotReported() async throws {
        _ = try await fixture.sql(
            """
            CREATE TABLE "app "" own"("a "" b" TEXT, kind TEXT);
            CREATE UNIQUE INDEX "app "" name" ON "app "" own"("a "" b");
            CREATE UNIQUE INDEX app_kind ON "app "" own"(kind, lower("a "" b"));
            """
        )
        try await withoutIndexes(
            [#"app " name"#, "app_kind"],
            #"INSERT INTO "app "" own" VALUES (NULL, 'x'), (NULL, 'x'), ('b', 'x')"#
        )
        let found = try await check().message
        #expect(found.contains("--repair") && !found.contains("duplicate values"), "\(found)")
        #expect(
            try await repair().map(\.message) == [#"2 indexes rebuilt from their tables: app " name, app_kind"#]
        )
    }
}
