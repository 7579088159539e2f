import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Rows that no transaction of Cameo leaves.
@Suite(.timeLimit(.minutes(10)))
struct OddRowsTests {
    private struct Column {
        let table, name: String
    }

    /// A number in each column in turn, where the tables allow it. Every call may fail, and none may end the program.
    @Test(arguments: ["-1", "9223372036854775807"])
    func noNumberInARowEndsAProgram(number: String) async throws {
        let fixture = try await StoreFixture()
        let store = fixture.store
        let thumbnail = try await fixture.furnish()
        let columns = try await store.read { db in
            try db.query(
                """
                SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
                WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
                  AND relname <> 'schema_version' AND attnum > 0 AND attgenerated = ''
                  AND atttypid IN ('bigint'::regtype, 'integer'::regtype, 'smallint'::regtype, 'float8'::regtype)
                """
            )
            .map { Column(table: try $0[0], name: try $0[1]) }
        }
        #expect(columns.count > 80)
        for table in Set(columns.map(\.table)) {
            try await fixture.sql(
                """
                SET session_replication_role = replica;
                CREATE SEQUENCE IF NOT EXISTS odd_number; ALTER TABLE \(table) ADD COLUMN odd bigint;
                UPDATE \(table) SET odd = nextval('odd_number'); CREATE TABLE odd_\(table) AS SELECT * FROM \(table)
                """
            )
        }
        var changed = 0
        for column in columns {
            guard try await change(column, to: number, in: store) else { continue }
            changed += 1
            await fixture.callAll(of: store, thumbnail)
            try await change(column, to: nil, in: store)
        }
        #expect(changed > 10)
        await fixture.callAll(of: store, thumbnail)
    }

    /// - Returns: whether the tables allow it. With nil, the column gets its numbers back.
    @discardableResult
    private func change(_ column: Column, to number: String?, in store: PostgreSQLStore) async throws -> Bool {
        let (table, name) = (column.table, column.name)
        do throws(StoreError) {
            return try await store.commit { db in
                try db.execute("SELECT set_config('session_replication_role', 'replica', true)")
                let change =
                    number.map { "UPDATE \(table) SET \(name) = \($0)" }
                    ?? "UPDATE \(table) SET \(name) = old.\(name) FROM odd_\(table) AS old WHERE old.odd = \(table).odd"
                return try db.execute(change) > 0
            }
        } catch {
            return false
        }
    }
}
