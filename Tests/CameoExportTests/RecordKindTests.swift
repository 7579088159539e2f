import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Nothing that a store keeps is forgotten.
@Suite(.timeLimit(.minutes(10)))
struct RecordKindTests {
    /// Columns that follow from others, or belong to one place or process.
    private static let left: [String: Set<String>] = [
        "blob": ["data"],
        "key": ["running"],
        // Nobody takes along what it has had elsewhere.
        "lane": ["head", "shut", "used", "mean", "spent", "spent_minute", "spent_before", "charged_at"],
        "queue": ["full", "head", "paused_at", "share_floor"],
        "queue_count": Set(JobState.allCases.map(\.rawValue)),
        // An import looks at all jobs that wait, and nothing is being accepted beside it.
        "task": ["token", "worker", "charged", "source_tail"], "forget": ["arriving"],
        "delivery": ["worker"], "batch_seal": ["worker", "waits_for"],
        "thumbnail": ["used_at", "source_omitted"],
        // PostgreSQL's: the attempt that ended with the job is a record of its own.
        "source": ["entry"], "source_failure": ["entry"],
        "outcome": [
            "number", "worker", "wait_ms", "fetch_ms", "queue_ms", "render_ms", "store_ms", "source_bytes",
            "output_bytes", "cpu_ms",
        ],
    ]
    /// PostgreSQL's table of a kind that has another name there.
    private static let names = ["earlier_attempt": "attempt"]
    /// Tables of which the same is true; `sequence`, `sqlite_sequence` and PostgreSQL's sequences are numbers.
    private static let leftTables: Set<String> = [
        // What repairs have removed, for a week.
        "set_aside",
        // Of programs' tables, which stay where they are.
        "attachment", "attached", "attached_gone",
        "worker", "worker_hook", "worker_lack", "sequence", "sqlite_sequence",
        // PostgreSQL's: what is on its way into other tables, leases, beginnings of downloads.
        "arrival", "new_change", "feed", "queue_delta", "total_delta", "lane_cost", "maintenance", "partial",
        "partial_piece",
        "schema_version",
    ]
    /// A row of PostgreSQL's `change` has many changes.
    private static let lists = ["jobs": "job_id", "last": "seq", "states": "state"]

    @Test(arguments: [true, false])
    func everyColumnIsAFieldOrNamedHere(ofADatabase: Bool) async throws {
        let fixture = try await ExportFixture()
        let store: any Store =
            ofADatabase
            ? try fixture.database(fixture.server.newURL()) : try fixture.folderStore("store")
        let listing =
            ofADatabase
            ? """
            SELECT relname || '|' || attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
            WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
              AND attnum > 0 AND NOT attisdropped ORDER BY 1
            """
            : """
            SELECT tables.name || '|' || columns.name FROM sqlite_schema AS tables, pragma_table_xinfo(tables.name) AS columns
            WHERE tables.type = 'table' ORDER BY 1;
            """
        var columns: [String: Set<String>] = [:]
        for line in try await fixture.sql(listing, of: store).split(separator: "\n") {
            let words = line.split(separator: "|").map(String.init)
            let table = Self.names[words[0]] ?? words[0]
            let isList = ofADatabase && table == RecordKind.change.rawValue
            columns[table, default: []].insert(isList ? Self.lists[words[1]] ?? words[1] : words[1])
        }
        #expect(columns.count > 25)
        for (table, found) in columns where !Self.leftTables.contains(table) {
            let kind = try #require(RecordKind(rawValue: table), "what becomes of the table \(table)?")
            let fields = Set(kind.fields.map(\.name))
            #expect(fields.subtracting(found) == [], "\(table)")
            #expect(found.subtracting(fields).subtracting(Self.left[table] ?? []) == [], "\(table)")
        }
        for kind in RecordKind.allCases where kind != .number { #expect(columns[kind.rawValue] != nil, "\(kind)") }
    }

    @Test func aSumDependsOnEachRecordAndNotOnTheirOrder() {
        func record(_ values: StoreValue...) -> StoreRecord { StoreRecord(values: values) }
        func sum(_ records: StoreRecord...) -> RecordSum {
            records.reduce(into: RecordSum()) { $0.add($1) }
        }
        let (a, b) = (record(.integer(1), .text("x")), record(.integer(2), .null))
        #expect(sum(a, b) == sum(b, a))
        #expect(sum(a, b).digest.count == 64 && sum(a, b).count == 2)
        #expect(sum(a, a) != sum(b, b) && sum(a, a) != sum() && sum(a) != sum(a, a))
        #expect(sum(record(.text("ab"), .text("c"))) != sum(record(.text("a"), .text("bc"))))
        #expect(sum(record(.integer(0))) != sum(record(.null)))
        #expect(sum(record(.text("1"))) != sum(record(.bytes(Data("1".utf8)))))
    }
}
