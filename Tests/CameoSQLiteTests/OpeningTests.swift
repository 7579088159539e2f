import CameoModel
import CameoQueue
import CameoStore
import CameoSystem
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

@Suite(.timeLimit(.minutes(10)))
struct OpeningTests {
    /// Newer shells of SQLite (Debian 13) ignore `journal_mode = OFF`, unless told not to be defensive.
    private func shell(_ text: String, in store: String) async throws -> ProcessResult {
        try await run("sqlite3", ["\(store)/cameo.sqlite", ".dbconfig defensive off", text])
    }

    private func sql(_ text: String, in store: String) async throws {
        let result = try await shell(text, in: store)
        try #require(result.exitStatus == 0, "\(result.errorText)")
    }

    @Test func aNewerSchemaIsRefusedByName() async throws {
        let fixture = try StoreFixture()
        try await sql("PRAGMA user_version = 99", in: fixture.path)
        let expected = StoreError.newerSchema(path: fixture.path, found: 99, supported: Schema.currentVersion)
        #expect(throws: expected) { try SQLiteStore(at: fixture.path) }
        #expect(throws: expected) { try SQLiteStore(reading: fixture.path) }
        #expect(expected.description.contains("99"))
    }

    @Test(arguments: [0, -1, Int(Int32.min)])
    func aVersionThatCameoNeverWritesIsRefusedByName(version: Int) async throws {
        let fixture = try StoreFixture()
        try await sql("PRAGMA user_version = \(version)", in: fixture.path)
        let reason = "its user_version is \(version), which Cameo never writes"
        let expected = StoreError.cannotOpen(path: fixture.path, reason: reason)
        #expect(throws: expected) { try SQLiteStore(at: fixture.path) }
        #expect(throws: expected) { try SQLiteStore(reading: fixture.path) }
    }

    @Test func anotherProgramsDatabaseIsNotAStore() async throws {
        let folder = try TemporaryFolder()
        try await sql("CREATE TABLE mine(a)", in: folder.path)
        #expect(throws: StoreError.notAStore(path: folder.path)) { try SQLiteStore(at: folder.path) }
        try folder.write(Data(repeating: 65, count: 5_000), to: "cameo.sqlite")
        #expect(throws: StoreError.notAStore(path: folder.path)) { try SQLiteStore(at: folder.path) }
    }

    @Test func readingNeedsAStore() throws {
        let folder = try TemporaryFolder()
        #expect(throws: StoreError.missing(path: folder.path("none"))) { try SQLiteStore(reading: folder.path("none")) }
        #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
    }

    @Test func aStoreIsMadeOneLevelDeep() throws {
        let folder = try TemporaryFolder()
        let far = folder.path("far/store")
        let reason = "there is no folder \(folder.path("far")) to create it in"
        #expect(throws: StoreError.cannotOpen(path: far, reason: reason)) { try SQLiteStore(at: far) }
        #expect(!FileManager.default.fileExists(atPath: folder.path("far")))
    }

    /// A process that looks at a file while another creates the tables sees either none or all of them.
    @Test func aStoreInTheMakingIsEmptyOrWhole() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("cameo.sqlite")
        let (maker, other) = (try ConnectionQueue(path, .readWrite), try ConnectionQueue(path, .readWrite))
        _ = try maker.sync { db in try db.execute("PRAGMA journal_mode = WAL") }
        let isMade = Mutex(false)
        try other.sync { db in
            db.trace { sql in
                let isFirst = isMade.withLock { isMade in
                    defer { isMade = isMade || sql.contains("sqlite_schema") }
                    return !isMade && sql.contains("sqlite_schema")
                }
                if isFirst { try? maker.sync { db in try Schema.setUp(db, at: path) } }
            }
            let seen = try Schema.version(of: db, at: path)
            #expect([0, Schema.currentVersion].contains(seen))
        }
        #expect(isMade.withLock { $0 })
    }

    /// SQLite can be configured only before its first use, which may have been the program's.
    @Test func aProgramMayHaveUsedSQLiteBefore() async throws {
        await #expect(processExitsWith: .success) {
            let own = try SQLiteClient(":memory:")
            let folder = try TemporaryFolder()
            let store = try SQLiteStore(at: folder.path("store"))
            #expect(try await store.enqueue([StoreFixture.request("file:///1")]).map(\.id) == [1])
            #expect(try own.run("SELECT 1") == [["1"]])
            _ = try SQLiteStore(reading: folder.path("store"))
        }
    }

    @Test func readerOfAFileWithoutTablesFindsNoStore() throws {
        let folder = try TemporaryFolder()
        try folder.write(Data(), to: "cameo.sqlite")
        #expect(throws: StoreError.missing(path: folder.path)) { try SQLiteStore(reading: folder.path) }
    }

    @Test func readingSeesAStoreThatNobodyHasOpen() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(3)
        let copy = try TemporaryFolder()
        // Without the log's shared memory, as after a reboot.
        for name in ["cameo.sqlite", "cameo.sqlite-wal"] {
            try FileManager.default.copyItem(atPath: "\(fixture.path)/\(name)", toPath: copy.path(name))
        }
        #expect(try await SQLiteStore(reading: copy.path).status().count(.available) == 3)
    }

    @Test func aReaderCannotWrite() async throws {
        let fixture = try StoreFixture()
        let reader = try SQLiteStore(reading: fixture.path)
        await #expect(throws: StoreError.readOnly(path: fixture.path)) {
            try await reader.enqueue([StoreFixture.request()])
        }
    }

    @Test func theFolderIsPrivate() throws {
        let fixture = try StoreFixture()
        let permissions = try FileManager.default.attributesOfItem(atPath: fixture.path)[.posixPermissions] as? Int
        #expect(permissions == 0o700)
    }

    @Test func manyProcessesMayCreateTheStoreAtOnce() async throws {
        let folder = try TemporaryFolder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let store = try SQLiteStore(at: folder.path("store"))
                    _ = try await store.enqueue([StoreFixture.request("file:///\(index)")])
                }
            }
            try await group.waitForAll()
        }
        #expect(try await SQLiteStore(reading: folder.path("store")).status().count(.available) == 8)
    }

    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF"])
    func aLogThatAnotherProgramTurnedOffIsTurnedOnAgain(mode: String) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store")
        do {
            let store = try SQLiteStore(at: path)
            _ = try await store.enqueue([StoreFixture.request()])
            let refused = try await shell("PRAGMA journal_mode = \(mode)", in: path)
            #expect(refused.errorText.contains("locked"), "WAL cannot be turned off while the store is open")
        }
        try await sql("PRAGMA journal_mode = \(mode)", in: path)

        let seen = try #require(try await SQLiteStore(reading: path).check().first { $0.subject == "journal" })
        #expect(seen.severity == .error)
        #expect(seen.message.contains("journal_mode"))

        let store = try SQLiteStore(at: path)
        #expect(try await store.check().filter { $0.subject == "journal" }.map(\.severity) == [.ok])
        #expect(try await store.read { db in try Schema.isInWALMode(db.connection) })
        #expect(try await store.status().count(.available) == 1)
    }

    @Test func openingAReadyStoreWaitsForNoLock() async throws {
        let fixture = try StoreFixture()
        let frozen = try FileLock(fixture.store.directory.setUpLock)
        defer { withExtendedLifetime(frozen) {} }
        #expect(try await fixture.anotherStore().status().count(.available) == 0)
    }

    @Test func waitingForAFrozenLockHolderHasALimit() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("setup.lock")
        var holder: FileLock? = try FileLock(path)
        #expect(try FileLock.ifFree(path, within: 20) == nil)
        withExtendedLifetime(holder) {}
        holder = nil
        #expect(try FileLock.ifFree(path, within: 600_000) != nil)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(throws: Errno(EISDIR)) { try FileLock.ifFree(path, within: 600_000) }
    }

    @Test func closingLeavesOneCleanFile() async throws {
        let fixture = try StoreFixture()
        try await fixture.enqueue(5)
        fixture.store.close()
        let log = try FileManager.default.attributesOfItem(atPath: fixture.path + "/cameo.sqlite-wal")[.size] as? Int
        #expect(log == 0)
    }
}
