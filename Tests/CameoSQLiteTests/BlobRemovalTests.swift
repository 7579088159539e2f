import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import CameoSQLite

/// The removal of blob files: interrupted, repeated and concurrent removals never lose referenced bytes.
@Suite(.timeLimit(.minutes(10)))
struct BlobRemovalTests {
    /// Too large for a row.
    private static let bytes = StoreFixture.bytes("a", 150_000)
    private static let digest = BlobDigest(of: bytes)

    /// Real times, because files have them too.
    private let folder: TemporaryFolder
    private let store: SQLiteStore

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore(at: folder.path("store"))
    }

    /// Creates an orphaned blob in a file.
    private func leave(_ bytes: Data = bytes) async throws {
        try await store.keep(StoreFixture.original(bytes), data: bytes, budget: nil)
        _ = try await store.forgetSource(StoreFixture.uri, .originals)
    }

    private func collect() async throws -> CollectedBlobs {
        try await store.collectBlobs(unreferencedSince: .now + 1, atMost: 100)
    }

    private func sql(_ statement: String) async throws {
        try await store.commit { db in try db.execute(statement) }
    }

    private var leftAside: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: store.directory.unfinishedBlobs) }
    }

    private var inode: Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: store.directory.blobFile(Self.digest))
        return attributes?[.systemFileNumber] as? Int
    }

    private func moveAside(_ moved: MovedFiles) throws {
        #expect(try store.files.moveAside(Self.digest, madeIn: 0 ... .max, noting: moved))
    }

    /// A process died after moving the file aside, and the file was removed with other unfinished ones.
    @Test func aRowWhoseFileIsGoneIsCollected() async throws {
        try await leave()
        try FileManager.default.removeItem(atPath: store.directory.blobFile(Self.digest))
        #expect(try await collect().count == 1)
        #expect(try await store.status().blobs.count == 0)
    }

    @Test func aCollectionThatFailsPutsItsFilesBack() async throws {
        let other = StoreFixture.bytes("b", 150_000)
        try await leave()
        try await leave(other)
        let hex = BlobDigest(of: other).hex
        try await sql(
            "CREATE TRIGGER torn BEFORE DELETE ON blob WHEN OLD.digest = '\(hex)' BEGIN SELECT RAISE(ABORT, 'torn'); END"
        )
        try await sql("UPDATE orphan SET since = since + 1 WHERE digest = '\(hex)'")
        await #expect(throws: StoreError.self) { try await collect() }
        #expect(try await store.data(of: Self.digest) == Self.bytes)
        #expect(try await store.data(of: BlobDigest(of: other)) == other)
        #expect(try leftAside == [])
    }

    /// On a full disk, the transaction is run again after the log has been emptied; another process commits in between.
    @Test func aBlobReferencedBetweenTwoRunsOfACollectionKeepsItsFile() async throws {
        try await leave()
        try await sql("CREATE TABLE ballast(bytes BLOB)")
        let ballast = "INSERT INTO ballast VALUES (zeroblob(1000000))"
        try await sql("CREATE TRIGGER full BEFORE DELETE ON blob BEGIN \(ballast); END")
        let other = try SQLiteClient(store.directory.database)
        let runs = Mutex(0)
        try await store.writeOutsideTransaction { db in
            try db.execute("PRAGMA max_page_count = 1")  // as many as there are
            db.trace { sql in
                guard sql.hasPrefix("BEGIN") else { return }
                let run = runs.withLock { count in
                    count += 1
                    return count
                }
                guard run == 2 else { return }
                #expect(throws: Never.self) { try other.run("UPDATE blob SET pinned = 1") }
            }
        }
        #expect(try await collect().count == 0)
        #expect(runs.withLock { $0 } == 2)
        #expect(try await store.data(of: Self.digest) == Self.bytes)
        #expect(try leftAside == [])
    }

    @Test func aFileIsNotPutBackOverOneThatWasMadeMeanwhile() async throws {
        try await leave()
        let moved = MovedFiles()
        try moveAside(moved)
        try await leave()
        let made = inode
        store.files.moveBack(moved)
        #expect(made != nil && inode == made)
        #expect(try leftAside == [])
    }

    /// The second removal begins before the first has finished.
    @Test func ofTwoRemoversEachHasItsOwnFile() async throws {
        let (first, second) = (MovedFiles(), MovedFiles())
        try await leave()
        try moveAside(first)
        try await leave()
        try moveAside(second)
        store.files.remove(first)
        store.files.moveBack(second)
        #expect(try await store.data(of: Self.digest) == Self.bytes)
    }
}
