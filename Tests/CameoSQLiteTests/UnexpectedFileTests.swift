import CameoModel
import CameoQueue
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoSQLite

/// Unexpected or misplaced entries in `blobs/`.
@Suite(.timeLimit(.minutes(10)))
struct UnexpectedFileTests {
    private static let bytes = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })
    private static let digest = BlobDigest(of: bytes)
    private let fixture: StoreFixture

    /// Creates a store with one blob in a file.
    init() async throws {
        fixture = try StoreFixture()
        _ = try await fixture.store.store(Self.bytes, mediaType: nil)
    }

    private var store: SQLiteStore { fixture.store }
    private var place: String { store.directory.blobFile(Self.digest) }
    private var prefix: String { String(Self.digest.hex.prefix(2)) }
    private var rest: String { String(Self.digest.hex.dropFirst(2)) }

    private func check(_ subject: String) async throws -> CheckFinding {
        try #require(try await store.check().first { $0.subject == subject })
    }

    private func repair() async throws -> [String] {
        try await store.repair(in: try await store.freeTurn()).map(\.message)
    }

    private func path(_ name: String) -> String { "\(fixture.path)/blobs/\(name)" }

    private func make(_ name: String, _ bytes: Data = Data("mine".utf8)) throws {
        let file = URL(filePath: path(name))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try bytes.write(to: file)
    }

    @Test func aFolderWithNothingElseInItIsSound() async throws {
        try FileManager.default.createDirectory(atPath: path("00"), withIntermediateDirectories: true)
        try make("tmp/\(UUID().uuidString)")
        try make("tmp/removed-\(Self.digest.hex)-\(UUID().uuidString)")
        #expect(try await check("unexpected").severity == .ok)
    }

    /// File names and the reported paths; the files are old enough to be removed if they were Cameo's.
    @Test(
        arguments: [
            ("note.txt", "the file blobs/note.txt"), ("old/ab/x", "the folder blobs/old"),
            ("ab/note", "the file blobs/ab/note"), ("AB/x", "the folder blobs/AB"), ("abc/x", "the folder blobs/abc"),
            ("tmp/note", "the file blobs/tmp/note"),
            ("tmp/folder/x", "the folder blobs/tmp/folder"), ("ab/folder/x", "the folder blobs/ab/folder"),
        ]
    )
    func foreignEntriesAreReportedAndLeft(name: String, named: String) async throws {
        try make(name)
        let old = fixture.clock.storeClock.now().addingTimeInterval(-StoreFixture.day)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path(name))
        let found = try await check("unexpected")
        #expect(found.severity == .warning)
        #expect(found.message.contains("\(named) is not Cameo's"), "\(found.message)")
        #expect(try await repair() == [])
        store.files.removeUnfinished(olderThan: .distantFuture)
        #expect(FileManager.default.fileExists(atPath: path(name)))
        #expect(try await check("files").severity == .ok)
    }

    @Test func manyEntriesAreCountedAndSomeNamed() async throws {
        for number in 10...30 { try make("stray-\(number)") }
        let message = try await check("unexpected").message
        #expect(message.contains("stray-19 is not Cameo's: move it elsewhere (and 11 more)"), "\(message)")
    }

    /// A folder with the name of a blob's file is not a blob.
    @Test func aFolderWithTheNameOfABlobIsNotABlob() async throws {
        let name = "ab/\(String(repeating: "0", count: 62))"
        try make("\(name)/x")
        #expect(try await check("unexpected").message.contains("the folder blobs/\(name) is not Cameo's"))
        #expect(try await check("files").severity == .ok)
        #expect(try await repair() == [])
        #expect(FileManager.default.fileExists(atPath: path("\(name)/x")))
    }

    @Test(arguments: [true, false])
    func aLinkIsReportedAndNeverFollowed(toFolder: Bool) async throws {
        let other = try TemporaryFolder()
        let stray = String(repeating: "0", count: 62)
        try other.write(Data("of somebody else".utf8), to: stray)
        let old = fixture.clock.storeClock.now().addingTimeInterval(-StoreFixture.day)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: other.path(stray))
        let name = toFolder ? "00" : "\(prefix)/\(stray)"
        let target = toFolder ? other.path : other.path(stray)
        try FileManager.default.createSymbolicLink(atPath: path(name), withDestinationPath: target)
        let found = try await check("unexpected")
        #expect(found.severity == .warning)
        #expect(found.message.contains("blobs/\(name) is a symbolic link"), "\(found.message)")
        #expect(try await check("files").severity == .ok)
        #expect(try await repair() == [])
        #expect(FileManager.default.fileExists(atPath: other.path(stray)))
    }

    @Test func allBlobsMayBeOnAnotherDisk() async throws {
        let other = try TemporaryFolder()
        try FileManager.default.moveItem(atPath: "\(fixture.path)/blobs", toPath: other.path("blobs"))
        try FileManager.default.createSymbolicLink(
            atPath: "\(fixture.path)/blobs",
            withDestinationPath: other.path("blobs")
        )
        #expect(try await check("unexpected").severity == .ok)
        try make("note.txt")
        #expect(try await check("unexpected").message.contains("the file blobs/note.txt is not Cameo's"))
        #expect(try await check("blobs").severity == .ok)
    }

    /// The places to which a blob's file may have been moved.
    @Test(arguments: ["other folder", "in full", "outside"])
    func aMisplacedBlobIsRestored(way: String) async throws {
        let other = prefix == "00" ? "01" : "00"
        let name =
            switch way {
            case "other folder": "\(other)/\(rest)"
            case "in full": "\(prefix)/\(Self.digest.hex)"
            default: Self.digest.hex
            }
        try make(name, Self.bytes)
        try FileManager.default.removeItem(atPath: place)
        let found = try await check("unexpected")
        #expect(found.severity == .warning)
        #expect(found.message.contains("blobs/\(name) has the bytes of \(Self.digest)"), "\(found.message)")
        #expect(try await check("blobs").severity == .error)
        #expect(try await repair() == ["1 misplaced files restored"])
        #expect(try await store.data(of: Self.digest) == Self.bytes)
        #expect(!FileManager.default.fileExists(atPath: path(name)))
        #expect(try await store.check().allSatisfy { $0.severity == .ok || $0.subject == "sandbox" })
    }

    /// The file's name promises the bytes, but it has others.
    @Test func aFileThatOnlyHasTheNameOfAMissingBlobStaysWhereItIs() async throws {
        try make("\(prefix)/\(Self.digest.hex)", Data("other bytes".utf8))
        try FileManager.default.removeItem(atPath: place)
        #expect(try await check("unexpected").message.contains("is not Cameo's"))
        #expect(try await repair() == [])
        #expect(try await check("blobs").severity == .error)
        #expect(FileManager.default.fileExists(atPath: path("\(prefix)/\(Self.digest.hex)")))
    }

    @Test func aCopyOfAnExistingBlobReplacesNothing() async throws {
        try make(Self.digest.hex, Self.bytes)
        #expect(try await check("unexpected").message.contains("is not Cameo's"))
        #expect(try await repair() == [])
        #expect(FileManager.default.fileExists(atPath: path(Self.digest.hex)))
    }

    /// A thumbnail is not removed only because its blob could not be read.
    @Test func anUnreadableBlobIsReportedAndItsThumbnailKept() async throws {
        try await fixture.register()
        try await fixture.enqueue()
        let job = try #require(try await store.claim(limit: 1, for: "w1").first)
        let thumbnails = try StoreFixture.rendered(job, bytes: Data(Self.bytes.reversed()))
        try await store.complete(
            job.claim,
            storing: thumbnails,
            from: StoreFixture.provenance(),
            timings: AttemptTimings()
        )
        let file = store.directory.blobFile(BlobDigest(of: Data(Self.bytes.reversed())))
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let found = try await check("blobs")
        #expect(found.severity == .error && found.message.contains("\(file) cannot be read"), "\(found.message)")
        #expect(try await repair() == [])
        _ = try await store.thumbnail(thumbnails[0].id)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func aFolderOfAnotherUserIsReported() async throws {
        let folder = path(prefix)
        try #require(chown(folder, 12_345, 12_345) == 0)
        let found = try await check("unexpected")
        #expect(found.severity == .warning)
        #expect(found.message.contains("the folder blobs/\(prefix) belongs to user 12345, the store to user 0"))
    }
}
