import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

/// What the rules of the queue rely on, and SQLite does not do by itself.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionTests {
    private struct Refusal: Error {}

    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private var store: SQLiteStore { fixture.store }

    private func client() throws -> SQLiteClient { try SQLiteClient(store.directory.database) }

    private func queues() async throws -> [String] {
        try await store.read { db in try db.column("SELECT name FROM queue ORDER BY name") }
    }

    private static let insertion = "INSERT INTO queue(name) VALUES (?1)"

    /// Every ON DELETE CASCADE needs foreign keys, and no file says that they are on.
    @Test(arguments: [
        ("PRAGMA foreign_keys", 1), ("PRAGMA wal_autocheckpoint", 0), ("PRAGMA mmap_size", 0),
        ("PRAGMA cache_size", -8_192), ("PRAGMA synchronous", 2),
    ])
    func everyConnectionIsDurableHeedsForeignKeysAndLeavesTheLogAlone(pragma: String, expected: Int) async throws {
        let values: [Int?] = [
            try await store.commit { db in try db.value(pragma) }, try await store.read { db in try db.value(pragma) },
            try await store.readApart { db in try db.value(pragma) },
        ]
        #expect(values == [expected, expected, expected])
    }

    @Test(arguments: [#"SELECT "nothing""#, #"CREATE TABLE app_note(a CHECK (a <> "nothing"))"#])
    func whatIsInDoubleQuotesIsNeverAString(sql: String) async throws {
        await #expect(throws: StoreError.self) { try await store.commit { db in try db.execute(sql) } }
    }

    @Test func theSchemaCannotBeRewritten() async throws {
        let (set, change) = ("PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = 'x' WHERE name = 'job'")
        await #expect(throws: StoreError.self) {
            try await store.commit { db in
                try db.execute(set)
                try db.execute(change)
            }
        }
    }

    @Test func aReadCannotWrite() async throws {
        for isApart in [false, true] {
            await #expect(throws: StoreError.readOnly(path: fixture.path)) {
                let write: @Sendable (SQLiteTransaction) throws -> Void = { db in try db.execute("DELETE FROM job") }
                if isApart { try await store.readApart(write) } else { try await store.read(write) }
            }
        }
    }

    @Test func aReadSeesOneMoment() async throws {
        let (client, count) = (try client(), "SELECT count(*) FROM queue")
        let seen = try await store.read { db in
            let before: Int? = try db.value(count)
            try client.run(Self.insertion, ["a"])
            return [before, try db.value(count)]
        }
        #expect(seen == [0, 0])
        #expect(try await queues() == ["a"])
    }

    /// A read that fails ends its transaction too: the next sees what has been committed since.
    @Test func aFailedReadLeavesNothingBehind() async throws {
        await #expect(throws: StoreError.self) {
            try await store.read { db in
                _ = try db.query("SELECT name FROM queue")
                throw Refusal()
            }
        }
        try client().run(Self.insertion, ["a"])
        #expect(try await queues() == ["a"])
    }

    /// On the thread of its caller, while the reading connection is busy.
    @Test func whatIsReadAtOnceWaitsForNoOtherRead() async throws {
        let id = try await fixture.makeThumbnail()
        let store = store
        #expect(try await store.read { _ in store.contentAtOnce(of: id) != nil })
        #expect(try await store.commit { _ in store.contentAtOnce(of: id) != nil })
    }

    /// One connection sees the commits of all others, whichever thread asks.
    @Test func theVersionChangesWithTheCommitsOfOthersAlone() async throws {
        var ticks = store.wakeUps(pause: { .zero }).makeAsyncIterator()
        _ = await ticks.next()
        let before = try await store.version()
        #expect(try await store.version() == before)
        try client().run(Self.insertion, ["a"])
        #expect(try await store.version() != before)
        _ = await ticks.next()
    }

    @Test func savepointsNest() async throws {
        try await store.commit { db in
            try db.inSavepoint {
                try db.execute(Self.insertion, ["outer"])
                #expect(throws: Refusal.self) {
                    try db.inSavepoint {
                        try db.execute(Self.insertion, ["inner"])
                        _ = try db.inSavepoint { try db.execute(Self.insertion, ["innermost"]) }
                        throw Refusal()
                    }
                }
                _ = try db.inSavepoint { try db.execute(Self.insertion, ["second"]) }
            }
            #expect(throws: Refusal.self) {
                try db.inSavepoint {
                    _ = try db.inSavepoint { try db.execute(Self.insertion, ["undone"]) }
                    throw Refusal()
                }
            }
        }
        #expect(try await queues() == ["outer", "second"])
    }

    /// A statement that failed, was left before its end, or is running, can be run again.
    @Test func aStatementIsRunAgainWhateverBecameOfIt() async throws {
        let store = store
        let found: [String] = try await store.commit { db in
            try db.execute(Self.insertion, ["a"])
            #expect(throws: (any Error).self) { try db.execute(Self.insertion, ["a"]) }
            #expect(throws: (any Error).self) { try db.execute(Self.insertion, [nil]) }
            try db.execute(Self.insertion, ["b"])
            let first = try db.row("SELECT name FROM queue ORDER BY name")
            #expect(try first?["name"] == "a")
            return try db.column("SELECT name FROM queue ORDER BY name")
        }
        #expect(found == ["a", "b"])
    }

    @Test func aStatementMayRunWithinItself() async throws {
        let numbers = "SELECT value FROM json_each('[1,2,3]')"
        let sums = try await store.read { db -> [Int] in
            var sums: [Int] = []
            try db.connection.run(numbers, []) { outer in
                try db.connection.run(numbers, []) { inner in
                    sums.append(try outer[0] as Int + inner[0])
                    return true
                }
                return true
            }
            return sums
        }
        #expect(sums == [2, 3, 4, 3, 4, 5, 4, 5, 6])
    }

    @Test(arguments: ["SELECT 1; SELECT 2", "", "-- nothing"])
    func whatIsNotOneStatementIsRefused(sql: String) async throws {
        await #expect(throws: StoreError.self) { try await store.read { db in try db.query(sql) }.count }
    }

    /// The next user of the connection must not go on with it, nor keep others waiting.
    @Test func aTransactionThatWasLeftOpenIsUndone() async throws {
        try await store.writeOutsideTransaction { db in
            try db.execute("BEGIN IMMEDIATE")
            try db.execute(Self.insertion, ["left"])
        }
        try client().run(Self.insertion, ["a"])
        #expect(try await queues() == ["a"])
    }

    @Test func aClosedConnectionRefusesCalls() throws {
        let connection = try SQLiteConnection(":memory:", .readWrite)
        #expect(try connection.value("SELECT 1") == 1)
        try connection.close()
        #expect(throws: SQLiteError.self) { try connection.execute("SELECT 1") }
        try connection.close()
    }

    @Test func whatAStatementDidNotGetIsNull() async throws {
        let seen: [String?] = try await store.read { db in
            let first: String? = try db.value("SELECT ?1", ["a"])
            return [first, try db.value("SELECT ?1", [])]
        }
        #expect(seen == ["a", nil])
    }

    /// Values of every kind come back as they went in, from a statement that is compiled once.
    @Test func valuesComeBack() async throws {
        let (text, bytes) = ("snow ☃ \u{0} end", Data([0, 1, 255]))
        try await store.read { db in
            for (string, data) in [(text, bytes), ("", Data()), (text, bytes)] {
                let row = try db.row("SELECT ?1 AS a, ?2 AS b, ?3 AS c, ?4 AS d", [string, data, Int64.min + 1, 0.5])
                #expect(try row?["a"] == string)
                #expect(try row?["b"] == data)
                #expect(try row?.integer(2) == .min + 1)
                #expect(try row?["d"] == 0.5)
            }
            let list: [Int64] = try db.column("SELECT value FROM json_each(?1)", [[3, 1, 2] as [Int64]])
            #expect(list == [3, 1, 2])
        }
    }

    /// SQLite compiles a statement anew when another program has changed the tables.
    @Test func aStatementSurvivesAChangeOfTheTables() async throws {
        let (client, look) = (try client(), "SELECT * FROM app_note")
        try client.run("CREATE TABLE app_note(a); INSERT INTO app_note VALUES (1)")
        #expect(try await store.read { db in try db.row(look)?["a"] } == 1)
        try client.run("DROP TABLE app_note; CREATE TABLE app_note(b, a); INSERT INTO app_note VALUES (2, 3)")
        let row = try #require(try await store.read { db in try db.row(look) })
        #expect(try (row["b"], row["a"]) == (2, 3))
    }

    @Test func anErrorIsToldWithItsWords() async throws {
        try await store.commit { db in try db.execute(Self.insertion, ["a"]) }
        let refused = StoreError.refused(reason: "UNIQUE constraint failed: queue.name")
        await #expect(throws: refused) { try await store.commit { db in try db.execute(Self.insertion, ["a"]) } }
        let failed = StoreError.failed("no such table: app_note (1 (SQL logic error))")
        await #expect(throws: failed) { try await store.commit { db in try db.execute("DELETE FROM app_note") } }
    }

    /// What this process has open below `path`.
    private static func openFiles(_ path: String) -> [String] {
        let links = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return links.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .filter { $0.hasPrefix(path) }
    }

    @Test func aConnectionWaitsUntilAnotherProgramIsReady() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store")
        do { _ = try await SQLiteStore(at: path).enqueue([StoreFixture.request()]) }
        try await eventually("the store is closed, or its log could not be left") { Self.openFiles(path).isEmpty }
        let client = try SQLiteClient("\(path)/cameo.sqlite")
        // Without a log, a writer keeps readers out.
        try client.run("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
        async let seen = Task { try await SQLiteStore(reading: path).status().count(.available) }.value
        try await Task.sleep(for: .milliseconds(100))
        try client.run("ROLLBACK")
        #expect(try await seen == 1)
    }

    /// Statements that are kept would keep the database open.
    @Test func aStoreThatIsGoneHasNoFileOpen() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store")
        do {
            let store = try SQLiteStore(at: path)
            _ = try await store.enqueue([StoreFixture.request()])
            _ = try await (store.status(), store.version(), store.check())
            _ = store.contentAtOnce(of: try #require(ThumbnailID(String(repeating: "0", count: 32))))
            #expect(!Self.openFiles(path).isEmpty)
        }
        try await eventually("its files are closed") { Self.openFiles(path).isEmpty }
    }
}
