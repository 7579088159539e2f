import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Databases that were emptied or exchanged, and what is left beside them.
@Suite(.timeLimit(.minutes(10)))
struct EmptiedStoreTests {
    private static let large = Data(repeating: 7, count: 300_000)

    /// A store with a blob in a file, closed.
    private func fixture() async throws -> (StoreFixture, file: String) {
        let fixture = try StoreFixture()
        try await fixture.enqueue(2)
        let digest = try await fixture.store.store(Self.large, mediaType: nil)
        fixture.store.close()
        return (fixture, StoreDirectory(unfinished: fixture.path).blobFile(digest))
    }

    private func empty(_ path: String, _ way: String) throws {
        let database = "\(path)/cameo.sqlite"
        switch way {
        case "truncated": try #require(truncate(database, 0) == 0)
        case "removed":
            for end in ["", "-wal", "-shm"] { unlink(database + end) }
        default:
            for end in ["", "-wal", "-shm"] { unlink(database + end) }
            _ = FileManager.default.createFile(atPath: database, contents: nil)
        }
    }

    @Test(arguments: ["truncated", "removed", "new file"])
    func anEmptiedStoreIsDamagedAndKeepsItsBytes(way: String) async throws {
        let (fixture, file) = try await fixture()
        try empty(fixture.path, way)
        let log = stat(at: "\(fixture.path)/cameo.sqlite-wal")
        for creating in [true, false] {
            let error = #expect(throws: StoreError.self) { try SQLiteStore(at: fixture.path, creating: creating) }
            #expect(
                error == .damagedDatabase(path: fixture.path)
                    || (way == "removed" && error == .missing(path: fixture.path))
            )
        }
        #expect(throws: StoreError.self) { try SQLiteStore(reading: fixture.path) }
        #expect(try Data(contentsOf: URL(filePath: file)) == Self.large)
        #expect(stat(at: "\(fixture.path)/cameo.sqlite-wal") == log, "SQLite did not get to see it")
    }

    private func stat(at path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? Int
    }

    /// As a process leaves it that died while it created the store.
    @Test func anUnfinishedStoreIsCreated() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store")
        for name in ["", "/blobs", "/blobs/tmp", "/workers"] {
            try FileManager.default.createDirectory(atPath: path + name, withIntermediateDirectories: false)
        }
        _ = FileManager.default.createFile(atPath: "\(path)/cameo.sqlite", contents: nil)
        #expect(throws: StoreError.missing(path: path)) { try SQLiteStore(reading: path) }
        #expect(throws: StoreError.missing(path: path)) { try SQLiteStore(at: path, creating: false) }
        _ = try SQLiteStore(at: path)
    }

    /// The database of another store, whose files they are not.
    @Test func filesThatAreOlderThanTheDatabaseStay() async throws {
        let (fixture, file) = try await fixture()
        let past = [FileAttributeKey.modificationDate: Date.now - 9_999]
        try FileManager.default.setAttributes(past, ofItemAtPath: file)
        let other = try StoreFixture()
        other.store.close()
        for end in ["-wal", "-shm"] { unlink("\(fixture.path)/cameo.sqlite\(end)") }
        let source = try Data(contentsOf: URL(filePath: "\(other.path)/cameo.sqlite"))
        try source.write(to: URL(filePath: "\(fixture.path)/cameo.sqlite"))
        let store = try SQLiteStore(at: fixture.path, creating: false)
        _ = try await store.repair(in: try await store.freeTurn())
        #expect(try Data(contentsOf: URL(filePath: file)) == Self.large)
        #expect(try await store.check().contains { $0.subject == "files" && $0.severity == .warning })
    }
}
