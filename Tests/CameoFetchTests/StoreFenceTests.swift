import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct StoreFenceTests {
    private let folder: TemporaryFolder
    private let fetcher: Fetcher
    private static let files = [
        "cameo.sqlite", "cameo.sqlite-wal", "cameo.sqlite-shm", "checkpoint.lock", "workers/1.lock",
    ]

    /// To Swift's characters the slash before a combining accent is none.
    private static let blobs = ["blobs/ab/cdef", "\u{301}blob"]

    init() throws {
        folder = try TemporaryFolder()
        for name in Self.files + Self.blobs {
            try folder.write(Data("bytes".utf8), to: "store/\(name)")
        }
        fetcher = try Fetcher(
            FetchConfiguration.forTests.with(\.allowedRoots, [folder.path])
                .with(\.deniedDirectory, folder.path("store"))
        )
    }

    @Test(arguments: files + blobs)
    func nothingBelowTheStoreIsOpened(name: String) async throws {
        let failure = try await failure(of: folder.uri(of: "store/\(name)"), with: fetcher)
        #expect(failure.code == .sourceForbidden)
        #expect(failure.message.contains("belongs to the store"))
    }

    @Test(arguments: files)
    func hardLinksToTheStoresFilesAreNotOpened(name: String) async throws {
        try FileManager.default.linkItem(atPath: folder.path("store/\(name)"), toPath: folder.path("a.jpg"))
        #expect(try await failure(of: folder.uri(of: "a.jpg"), with: fetcher).code == .sourceForbidden)
    }

    @Test
    func filesThatTheStoreMadeLaterAreKnown() async throws {
        try folder.write(Data("x".utf8), to: "store/cameo.sqlite-journal")
        try FileManager.default.linkItem(
            atPath: folder.path("store/cameo.sqlite-journal"),
            toPath: folder.path("a.jpg")
        )
        #expect(try await failure(of: folder.uri(of: "a.jpg"), with: fetcher).code == .sourceForbidden)
    }

    /// The folders' listing is kept while their times stay the same, but not one of the last seconds.
    @Test
    func filesThatTheStoreMakesAreKnownHoweverLongItWasIdle() async throws {
        try folder.write(Data("x".utf8), to: "other.jpg")
        for name in ["cameo.sqlite-journal", "workers/2.lock", "vacuum"] {
            // Longer than a folder that has changed is listed again for every file.
            try await Task.sleep(for: .milliseconds(2_100))
            #expect(try await fetcher.fetch(folder.uri(of: "other.jpg")).bytes == 1)
            try folder.write(Data("x".utf8), to: "store/\(name)")
            let link = folder.path("a.jpg")
            try FileManager.default.linkItem(atPath: folder.path("store/\(name)"), toPath: link)
            #expect(try await failure(of: folder.uri(of: "a.jpg"), with: fetcher).code == .sourceForbidden)
            try FileManager.default.removeItem(atPath: link)
        }
    }

    @Test
    func aLinkIntoTheStoreIsNotFollowed() async throws {
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "store")
        let failure = try await failure(of: folder.uri(of: "link/cameo.sqlite"), with: fetcher)
        #expect(failure.code == .sourceForbidden)
    }

    @Test
    func theStoreIsKnownAfterItWasRenamed() async throws {
        try FileManager.default.moveItem(atPath: folder.path("store"), toPath: folder.path("moved"))
        for name in Self.files + Self.blobs {
            #expect(try await failure(of: folder.uri(of: "moved/\(name)"), with: fetcher).code == .sourceForbidden)
        }
    }

    @Test
    func otherFilesAreRead() async throws {
        try folder.write(Data("x".utf8), to: "store-of-pictures/a.jpg")
        #expect(try await fetcher.fetch(folder.uri(of: "store-of-pictures/a.jpg")).bytes == 1)
    }

    @Test
    func aStoreAsTheAllowedRootGivesNothingAway() async throws {
        let fetcher = try Fetcher(
            FetchConfiguration.forTests.with(\.allowedRoots, [folder.path("store/blobs")])
                .with(\.deniedDirectory, folder.path("store"))
        )
        #expect(try await failure(of: folder.uri(of: "store/blobs/ab/cdef"), with: fetcher).code == .sourceForbidden)
    }
}
