import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Values on their way to the server and back.
@Suite(.timeLimit(.minutes(10)))
struct StatementTests {
    private static let texts = [
        "", " ", "a", "'", "\"", "\\", "\\\"", "{a,b}", "NULL", "null", ",", "\n\t", "é", "e\u{301}", "\"\u{301}",
        "👩‍👩‍👧‍👦", "\u{10FFFF}", "$1", "--", "/*",
    ]

    @Test func textsComeBackByteForByte() async throws {
        let fixture = try await StoreFixture()
        let (single, listed) = try await fixture.store.read { db in
            let single = try Self.texts.map { text in
                let back: String? = try db.value("SELECT $1::text", [text])
                return back.map { Array($0.utf8) }
            }
            let listed: [String] = try db.column(
                "SELECT text FROM unnest($1::text[]) WITH ORDINALITY AS list(text, place) ORDER BY place",
                [SQLArray(Self.texts)]
            )
            return (single, listed.map { Array($0.utf8) })
        }
        #expect(single == Self.texts.map { Array($0.utf8) })
        #expect(listed == Self.texts.map { Array($0.utf8) })
    }

    @Test func bytesNumbersAndNullsComeBack() async throws {
        let fixture = try await StoreFixture()
        try await fixture.store.read { db in
            for data in [Data(), Data([0]), Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })] {
                #expect(try db.value("SELECT $1::bytea", [data]) == data)
            }
            for number in [-1 << 58, -1, 0, Int64(1) << 58] {
                #expect(try db.value("SELECT $1::bigint", [number]) == number)
            }
            let cut: [Int64] = try [.min, .max].compactMap { (number: Int64) in
                try db.value("SELECT $1::bigint", [number])
            }
            #expect(cut == [-1 << 58, 1 << 58], "sums of what only another program can have left do not trap")
            #expect(try db.value("SELECT $1::double precision", [0.1]) == 0.1)
            #expect(try [true, false].map { try db.value("SELECT $1::boolean", [$0]) } == [true, false])
            let none: String? = try db.value("SELECT $1::text", [nil])
            #expect(none == nil)
            let holes: [Int?] = [1, nil, 3]
            #expect(try db.value("SELECT array_to_string($1::bigint[], ',', '-')", [SQLArray(holes)]) == "1,-,3")
        }
    }

    @Test func aTextThatWouldBeCutIsRefused() async throws {
        let fixture = try await StoreFixture()
        await #expect(throws: StoreError.refused(reason: "PostgreSQL keeps no text with a NUL character")) {
            try await fixture.store.read { db in _ = try db.query("SELECT $1::text", ["a\0b"]) }
        }
        #expect(try await fixture.store.status().count(.available) == 0, "the connection is as it was")
    }

    @Test func aColumnOfAnotherTypeIsAnErrorThatNamesIt() async throws {
        let fixture = try await StoreFixture()
        await #expect(throws: StoreError.failed("column \"size\" is not an integer")) {
            try await fixture.store.read { db in
                let _: Int64? = try db.value("SELECT 'x' AS size")
            }
        }
    }

    @Test func anErrorInThePipelineLeavesTheConnectionUsable() async throws {
        let fixture = try await StoreFixture()
        await #expect(throws: StoreError.self) {
            try await fixture.store.commit { db in
                try db.execute([.init("SELECT 1"), .init("SELECT 1 / 0"), .init("SELECT 2")])
            }
        }
        #expect(try await fixture.enqueue()[0].id == 1)
    }

    // MARK: - Prepared statements

    private static let sum = "SELECT 41 + $1::integer"
    private static let prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement = $1"

    @Test func aStatementThatComesAgainIsPreparedOnce() async throws {
        let connection = try await Connection(StoreFixture().store.url)
        for number in 1...4 {
            #expect(try connection.run(Self.sum, [number], prepared: true).rows[0][0] == 41 + number)
            #expect(try connection.run(Self.prepared, [Self.sum]).rows[0][0] == min(number - 1, 1))
        }
        #expect(try connection.run(Self.prepared, [Self.prepared]).rows[0][0] == 0)
        // Several times in one round trip, one of which may be the first.
        let pairs = try (0..<3).flatMap { _ in
            try connection.run(["a", "b"].map { .init("SELECT $1::text", [$0], prepared: true) })
        }
        #expect(try pairs.map { try $0.rows[0][0] as String } == ["a", "b", "a", "b", "a", "b"])
    }

    @Test func whatCannotBePreparedFailsAsText() async throws {
        let connection = try await Connection(StoreFixture().store.url)
        let wrong = "SELECT nowhere"
        for _ in 1...4 {
            let error = #expect(throws: DatabaseError.self) { try connection.run(wrong, prepared: true) }
            #expect(error?.state == "42703")
            let all = [("SELECT 1", []), (wrong, []), (Self.sum, [1])]
            let both = #expect(throws: DatabaseError.self) {
                try connection.run(all.map { .init($0, $1, prepared: true) })
            }
            #expect(both?.state == "42703")
            #expect(try connection.run(Self.sum, [1], prepared: true).rows[0][0] == 42)
        }
    }

    @Test func aPreparedStatementThatIsNoLongerSoRunsOnAnotherConnection() async throws {
        let fixture = try await StoreFixture()
        try await fixture.sql("CREATE TABLE shelf(book text); INSERT INTO shelf VALUES ('first')")
        let statement = "SELECT * FROM shelf"
        let look: @Sendable (PostgreSQLTransaction) throws -> Void = { db in _ = try db.query(statement, prepared: true)
        }
        for _ in 1...3 { try await fixture.store.commit { db in try look(db) } }
        try await fixture.sql("ALTER TABLE shelf ADD COLUMN place integer DEFAULT 7")
        #expect(try await fixture.store.commit { db in try db.query(statement, prepared: true)[0][1] } == 7)
        for _ in 1...3 { try await fixture.store.commit { db in try look(db) } }
        let book: String = try await fixture.store.commit { db in
            try db.execute("DEALLOCATE ALL")
            return try db.query(statement, prepared: true)[0][0]
        }
        #expect(book == "first")
    }

    /// Each worker sweeps four times a second: parsing and planning anew took two fifths of what an idle one costs.
    @Test func sweepsRunPreparedStatements() async throws {
        let fixture = try await StoreFixture()
        let runs = """
            SELECT statement FROM pg_prepared_statements
            WHERE from_sql = false AND generic_plans + custom_plans >= 3 AND statement ~* '^ *SELECT'
            """
        // Either of the two connections that read.
        try await eventually("sweeps are prepared") {
            _ = try await fixture.store.sweep(for: "w1")
            let prepared: [String] = try await fixture.store.read { db in try db.column(runs) }
            return ["clock_timestamp", "stop_mode"].allSatisfy { part in prepared.contains { $0.contains(part) } }
        }
        _ = try await fixture.store.version()
        let settings: [String] = try await fixture.store.read { db in
            try db.column("SELECT current_setting(name) FROM unnest(ARRAY['enable_seqscan', 'jit']) AS name")
        }
        #expect(settings == ["on", "off"], "what keeps plans holds for its transaction alone")
    }

    /// The server keeps plans from when the tables were empty.
    @Test func plansThatAreKeptFindEachRowByItsKey() async throws {
        let fixture = try await StoreFixture()
        // One row and statistics that say so, which is when the worst plans are the cheapest.
        let job = try await fixture.enqueue()[0]
        try await fixture.sql("ANALYZE task, thumbnail, blob, key, queue, arrival, worker, lane")
        let claim = try Claim(jobID: #require(job.id), token: "t")
        let locking = try #require(PostgreSQLTransaction.locking([claim]).first)
        let completion = ["bigint[]", "text[]", "bigint"] + Array(repeating: "bigint[]", count: 7)
        for (statement, types) in [
            (locking.sql, ["bigint[]", "text[]"]), (Schema.completion, completion),
            (PostgreSQLTransaction.lookForSame, ["text[]", "text[]", "text", "text"]),
        ] {
            let plan = try await keptPlan(of: statement, types, fixture)
            let scans = plan.enumerated().filter { $1.contains("Scan using") || $1.contains("Bitmap Index Scan") }
            #expect(!scans.isEmpty && !plan.contains { $0.contains("Seq Scan") }, "\(plan)")
            for (index, _) in scans { #expect(plan[index + 1].contains("Index Cond"), "\(plan)") }
        }
        // The first of an index is found without a condition.
        let look = try await keptPlan(
            of: ClaimOutlook.look(),
            ["text[]", "boolean", "integer", "text", "bigint"],
            fixture
        )
        let partial = ["using task_due", "using task_poison"]
        #expect(
            look.filter { $0.contains(" on task") }.allSatisfy { step in partial.contains { step.contains($0) } },
            "\(look)"
        )
        #expect(look.contains { $0.contains("using task_due") }, "\(look)")
        let laterLook = try await keptPlan(
            of: ClaimOutlook.look(at: Schema.openLanes(fromRanks: "$6")),
            ["text[]", "boolean", "bigint[]", "text", "bigint", "bigint[]"],
            fixture
        )
        let ready = try #require(laterLook.firstIndex { $0.contains("using task_ready") }, "\(laterLook)")
        #expect(laterLook[ready + 1].contains("rank >="), "\(laterLook)")
        let sweep = try await keptPlan(of: PostgreSQLStore.sweep, ["text", "bigint"], fixture)
        // There are as many workers as machines, and one feed.
        let whole = sweep.filter { $0.contains("Seq Scan") && !$0.contains(" on worker") && !$0.contains(" on feed") }
        #expect(whole.isEmpty && sweep.contains { $0.contains("using task_running") }, "\(sweep)")
        let heads = try await keptPlan(of: "SELECT EXISTS (\(Schema.lanesWithHeads))", [], fixture)
        #expect(heads.contains { $0.contains("using lane_open") }, "\(heads)")
    }

    /// The plan of a statement whose parameters have some types.
    private func keptPlan(of statement: String, _ types: [String], _ fixture: StoreFixture) async throws -> [String] {
        try await fixture.store.commit { db in
            try db.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            func list(_ words: [String]) -> String {
                words.isEmpty ? "" : "(\(words.joined(separator: ", ")))"
            }
            let values = types.map { _ in "NULL" }
            try db.execute("PREPARE kept\(list(types)) AS \(statement)")
            let plan: [String] = try db.column("EXPLAIN EXECUTE kept\(list(values))")
            try db.execute("DEALLOCATE kept")
            return plan
        }
    }
}
