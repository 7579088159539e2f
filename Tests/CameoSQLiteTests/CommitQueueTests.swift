import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

@Suite(.timeLimit(.minutes(10)))
struct CommitQueueTests {
    private struct Refusal: Error {}

    /// Simulates a full disk: SQLite answers SQLITE_FULL, which rolls back the whole transaction.
    private func limitPages(_ store: SQLiteStore, spare: Int) async throws {
        try await store.commit { db in try db.execute("CREATE TABLE ballast(data BLOB)") }
        try await store.commit { db in
            let pages = try db.value("PRAGMA page_count") as Int? ?? 0
            try db.execute("PRAGMA max_page_count = \(pages + spare)")
        }
    }

    @Test func aFailingOperationAffectsOnlyItself() async throws {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let store = fixture.store
        let results = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<40 {
                group.addTask {
                    do {
                        try await store.commit { db in
                            try db.execute("INSERT INTO queue(name) VALUES (?)", ["q\(index)"])
                            if index.isMultiple(of: 4) { throw Refusal() }
                        }
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(results == 30)
        #expect(try await store.read { db in try db.value("SELECT count(*) FROM queue") as Int? } == 30)
    }

    @Test func aGroupThatRunsOutOfSpaceIsRunAgainOneByOne() async throws {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let store = fixture.store
        try await limitPages(store, spare: 4)
        let results = await withTaskGroup(of: Result<Int, StoreError>.self) { group in
            for index in 0..<20 {
                group.addTask {
                    do throws(StoreError) {
                        try await store.commit { db in
                            // The one in the middle is too large; its neighbours fit.
                            let bytes = index == 10 ? 1_000_000 : 10
                            try db.execute("INSERT INTO ballast VALUES (zeroblob(?))", [bytes])
                        }
                        return .success(index)
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let failures = results.compactMap { result -> StoreError? in
            if case .failure(let error) = result { error } else { nil }
        }
        #expect(failures == [.full(path: store.directory.path)])
        #expect(try await store.read { db in try db.value("SELECT count(*) FROM ballast") as Int? } == 19)
    }

    /// SQLite has ended the transaction then, and what follows would be committed statement by statement.
    @Test func anOperationThatHidesAFullDiskCommitsNothing() async throws {
        let fixture = try StoreFixture()
        try await limitPages(fixture.store, spare: 4)
        await #expect(throws: StoreError.self) {
            try await fixture.store.commit { db in
                try db.execute("INSERT INTO queue(name) VALUES ('before')")
                _ = try? db.execute("INSERT INTO ballast VALUES (zeroblob(1000000))")
                try db.execute("INSERT INTO queue(name) VALUES ('after')")
            }
        }
        #expect(try await fixture.store.read { db in try db.value("SELECT count(*) FROM queue") as Int? } == 0)
    }

    @Test func aCancelledCallerDoesNotAffectOthers() async throws {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let store = fixture.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<50 {
                group.addTask {
                    _ = try await store.commit { db in
                        try db.execute("INSERT INTO queue(name) VALUES (?)", ["q\(index)"])
                    }
                }
                if index == 25 { group.cancelAll() }
            }
            try await group.waitForAll()
        }
        #expect(try await store.read { db in try db.value("SELECT count(*) FROM queue") as Int? } == 50)
    }

    @Test func theLogIsCheckpointedBeforeItGrowsLong() async throws {
        let fixture = try StoreFixture()
        defer { withExtendedLifetime(fixture) {} }
        let store = fixture.store
        for _ in 0..<40 {
            try await store.commit { db in
                try db.execute(
                    "INSERT INTO blob VALUES (lower(hex(randomblob(32))), 800000, zeroblob(800000), NULL, 0, 0)"
                )
            }
        }
        let log = try FileManager.default.attributesOfItem(atPath: store.directory.database + "-wal")[.size] as? Int
        #expect(try #require(log) < 20_000_000)
    }

    private func logBytes(of store: SQLiteStore) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: store.directory.writeAheadLog)[.size] as? Int)
    }

    private func lengthenLog(of store: SQLiteStore, by bytes: Int) async throws {
        try await store.commit { db in
            try db.execute(
                "INSERT INTO blob VALUES (lower(hex(randomblob(32))), ?1, zeroblob(?1), NULL, 0, 0)",
                [bytes]
            )
        }
    }

    /// Another program that was the last to close the store may have emptied the log since.
    @Test func aLogShorterThanWhenAReaderBlockedIsCheckpointedAgain() async throws {
        let fixture = try StoreFixture()
        let file = open(fixture.store.directory.checkpointLock, O_RDWR | O_CREAT, 0o600)
        #expect(ftruncate(file, 500_000_000) == 0)
        close(file)
        try await lengthenLog(of: fixture.store, by: 9_000_000)
        await fixture.store.finish()
        #expect(try logBytes(of: fixture.store) == 0)
    }

    @Test func aLogThatAReaderKeptLongIsEmptiedByUpkeepOnceTheReaderHasGone() async throws {
        let fixture = try StoreFixture()
        let reader = try fixture.stranger()
        try reader.run("BEGIN; SELECT count(*) FROM job")
        for _ in 1...3 { try await lengthenLog(of: fixture.store, by: 9_000_000) }
        await fixture.store.finish()
        try reader.run("ROLLBACK")
        #expect(try logBytes(of: fixture.store) > 20_000_000)
        _ = try await fixture.prune(.forever)
        #expect(try logBytes(of: fixture.store) == 0)
    }

    /// Waiting for a reader blocks all writers, so each process must not find out by itself.
    @Test func aReaderThatBlockedOneProcessIsNotWaitedForByTheNext() async throws {
        let fixture = try StoreFixture()
        let (store, other) = (fixture.store, try fixture.anotherStore())
        let reader = try fixture.stranger()
        try reader.run("BEGIN; SELECT count(*) FROM job")
        try await lengthenLog(of: store, by: 9_000_000)
        await store.finish()
        let long = try logBytes(of: store)
        #expect(long > 9_000_000)
        try reader.run("ROLLBACK")
        try await lengthenLog(of: other, by: 1_000)
        await other.finish()
        #expect(try logBytes(of: store) >= long)
        try await lengthenLog(of: other, by: 9_000_000)
        await other.finish()
        #expect(try logBytes(of: store) == 0)
    }
}
