import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// A store whose `blobs/` is a link to a folder on another disk, and copies of it.
@Suite(.timeLimit(.minutes(10)))
struct LinkedBlobsTests {
    private let folder: TemporaryFolder
    private let digest: BlobDigest
    private static let large = Data(repeating: 1, count: 200_000)

    /// Makes a store with a large blob behind a link.
    init() async throws {
        folder = try TemporaryFolder()
        let files = FileManager.default
        _ = try SQLiteStore(at: folder.path("store"))
        try files.moveItem(atPath: folder.path("store/blobs"), toPath: folder.path("disk"))
        try files.createSymbolicLink(atPath: folder.path("store/blobs"), withDestinationPath: folder.path("disk"))
        let store = try SQLiteStore(at: folder.path("store"))
        digest = try await store.store(Self.large, mediaType: nil)
        #expect(try await store.othersBytes() == nil)
        store.close()
    }

    private func shell(_ command: String) async throws {
        let result = try await run("/bin/sh", ["-ec", command], currentDirectory: folder.url)
        try #require(result.exitStatus == 0, "\(result.errorText)")
    }

    private var file: String { folder.path("disk/\(digest.hex.prefix(2))/\(digest.hex.dropFirst(2))") }
    private var isThere: Bool { FileManager.default.fileExists(atPath: file) }

    @Test func aCopyReadsTheFilesAndNeitherRemovesNorAddsAny() async throws {
        try await shell("cp -a store copy")
        let copy = try SQLiteStore(at: folder.path("copy"))
        let others = try #require(try await copy.othersBytes())
        #expect(others.owner.hasPrefix("store \(folder.path("store")), "), "\(others)")
        #expect(try await copy.data(of: .blob(digest)) == Self.large)
        let own = try await copy.store(Data(repeating: 2, count: 200_000), mediaType: nil)
        #expect(try await copy.data(of: .blob(own)).count == 200_000)
        try await shell(
            """
            sqlite3 copy/cameo.sqlite "PRAGMA wal_autocheckpoint=0; UPDATE blob SET pinned = 0, created_at = 0;
              INSERT INTO orphan SELECT digest, 0 FROM blob;"
            """
        )
        _ = try await copy.collectBlobs(unreferencedSince: .now, atMost: 99)
        #expect(isThere)
        #expect(try await copy.check().contains { $0.subject == "owner" && $0.severity == .warning })
        try await shell("touch -d '3 hours ago' disk/*/*; mkdir -p disk/tmp; touch -d '3 hours ago' disk/tmp/\(UUID())")
        _ = try await copy.repair(in: try await copy.freeTurn())
        let count = try FileManager.default.contentsOfDirectory(atPath: folder.path("disk/tmp")).count
        #expect(isThere && count == 1)
        // The original goes on as before.
        let store = try SQLiteStore(at: folder.path("store"))
        #expect(try await store.othersBytes() == nil)
        #expect(
            try await store.check().allSatisfy { $0.severity != .error && $0.subject != "owner" || $0.severity == .ok }
        )
    }

    @Test func aStoreThatWasMovedOrRestoredIsTheOwnerStill() async throws {
        try await shell("mv store moved")
        #expect(try await SQLiteStore(at: folder.path("moved")).othersBytes() == nil)
        try await shell("cp -a moved store && rm -r moved")
        #expect(try await SQLiteStore(at: folder.path("store")).othersBytes() == nil)
    }

    @Test func aCopyThatTakesTheOriginalsPlaceAdoptsItsFiles() async throws {
        try await shell("cp -a store copy")
        let (store, copy) = (try SQLiteStore(at: folder.path("store")), try SQLiteStore(at: folder.path("copy")))
        #expect(try await copy.adoptBytes() != nil)
        #expect(try await copy.othersBytes() == nil)
        #expect(try await copy.adoptBytes() == nil)
        #expect(try await store.othersBytes()?.owner.hasPrefix("store \(folder.path("copy")), ") == true)
        let plain = try SQLiteStore(at: folder.path("plain"))
        await #expect(throws: StoreError.refused(reason: "all its bytes are in its own folder")) {
            try await plain.adoptBytes()
        }
    }
}
