import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Rows that no transaction of Cameo leaves.
@Suite(.timeLimit(.minutes(10)))
struct OddRowsTests {
    /// A number in each column in turn, in as many rows as may have it, of a copy of the store. Every call may fail, and
    /// none may end the program or go on for ever.
    @Test(arguments: TestLength.few(["-9223372036854775808", "-1", "9223372036854775807"], 1, whole: 1))
    func noNumberInARowEndsAProgram(number: String) async throws {
        let fixture = try StoreFixture()
        let thumbnail = try await fixture.furnish()
        let hooked = try await fixture.enqueue { $0.hook = "site" }
        _ = try await fixture.store.cancel(hooked[0].jobID)
        _ = try await fixture.sql(#"INSERT INTO upload(data, request) VALUES (x'01', '{"renditions":[{"width":64}]}')"#)
        fixture.store.close()
        let columns = try await fixture.store.read { db in
            try db.query(
                """
                SELECT own.name, held.name FROM sqlite_schema AS own, pragma_table_info(own.name) AS held
                WHERE own.type = 'table' AND held.type IN ('INTEGER', 'REAL') ORDER BY 1, 2
                """
            )
            .map { row in (table: try row[0] as String, name: try row[1] as String) }
        }
        #expect(columns.count > 100)
        var changed = 0
        for (table, name) in columns {
            let folder = try TemporaryFolder(in: "/dev/shm")
            let path = folder.path("store")
            try FileManager.default.copyItem(atPath: fixture.path, toPath: path)
            let output = try? await SQLiteEngine.sql(
                """
                .dbconfig enable_trigger off
                PRAGMA ignore_check_constraints = ON;
                UPDATE OR IGNORE "\(table)" SET "\(name)" = \(number);
                SELECT changes();
                """,
                at: path
            )
            guard let count = output?.split(separator: "\n").last, count != "0" else { continue }
            changed += 1
            let store = try SQLiteStore(at: path, clock: fixture.clock.storeClock)
            await fixture.callAll(of: store, thumbnail)
            _ = try? await store.claim(limit: 9, for: "w1")
            _ = try? await store.claim(limit: 9, kind: .poison, for: "w1")
            _ = try? await store.hooks(failures: 9)
            _ = try? await store.claimDeliveries(["site": 9], for: "w1")
            _ = try? await store.rescueExpired(except: nil)
            _ = try? await store.check()
            try? await store.export(includingBytes: true) { _, _ in }
            _ = try? await store.backUp(to: folder.path("backup"), in: try await store.freeTurn())
        }
        #expect(changed > 80)
    }

    @Test func onlyNumbersThatCountAreCut() async throws {
        let fixture = try StoreFixture()
        try await fixture.register()
        try await fixture.enqueue()
        _ = try await fixture.sql("UPDATE task SET due = -9223372036854775808")
        #expect(try await fixture.store.claim(limit: 1, for: "w1").first?.availableAt == Date(milliseconds: -1 << 58))
        // An id is what it is, although `change` looks for those before the next one.
        _ = try await fixture.sql(
            """
            UPDATE sqlite_sequence SET seq = 9223372036854775806 WHERE name = 'job';
            INSERT INTO job(request) VALUES ('{"source":"file:///b.png","renditions":[{"width":9}]}')
            """
        )
        #expect(try await fixture.store.claim(limit: 1, for: "w1").first?.claim.jobID == Int64.max)
        var filter = JobFilter()
        filter.createdSince = fixture.clock.now
        _ = try await fixture.store.jobs(filter)
        _ = try await fixture.store.change(filter, by: .cancel)
    }
}
