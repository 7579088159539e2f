import CameoFetch
import CameoModel
import CameoSystem
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FileSourceTests {
    private let folder: TemporaryFolder
    private let fetcher: Fetcher

    init() throws {
        folder = try TemporaryFolder()
        fetcher = try Fetcher(FetchConfiguration.forTests.with(\.allowedRoots, [folder.path]))
    }

    @Test(arguments: ["a.jpg", "in/a/folder.jpg", "space and ?#%ä.jpg"])
    func aFileArrivesAsItself(name: String) async throws {
        let bytes = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let path = try folder.write(bytes, to: name)
        let encoded = try #require(path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed))
        for prefix in ["file://", "FILE://", "file://localhost", "file://LocalHost"] {
            let source = try await fetcher.fetch(prefix + encoded)
            #expect(try source.contents() == bytes)
            #expect(source.bytes == bytes.count)
            #expect(source.digest == BlobDigest(of: bytes))
            #expect(source.mediaType == nil)
            #expect(source.offset == 0)
            #expect(source.changeSinceOpened() == nil)
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(source.file.status()?.st_ino == status.st_ino)
            #expect(fcntl(source.file.descriptor, F_GETFD) & FD_CLOEXEC != 0)
        }
    }

    @Test
    func dotSegmentsInsideTheRootAreResolved() async throws {
        try folder.write(Data("x".utf8), to: "a.jpg")
        let name = (folder.path as NSString).lastPathComponent
        for path in ["./a.jpg", "b/../a.jpg", "%2e%2e/\(name)/a.jpg", "/a.jpg", "../\(name)/./a.jpg"] {
            #expect(try await fetcher.fetch("file://\(folder.path)/\(path)").bytes == 1, "\(path)")
        }
    }

    @Test
    func linksThatStayInsideAreFollowed() async throws {
        try folder.write(Data("x".utf8), to: "real/a.jpg")
        try FileManager.default.createSymbolicLink(atPath: folder.path("relative"), withDestinationPath: "real")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("absolute"),
            withDestinationPath: folder.path("real")
        )
        #expect(try await fetcher.fetch(folder.uri(of: "relative/a.jpg")).bytes == 1)
        #expect(try await fetcher.fetch(folder.uri(of: "absolute/a.jpg")).bytes == 1)
    }

    @Test
    func aRootMayBeReachedByALink() async throws {
        try folder.write(Data("x".utf8), to: "real/a.jpg")
        let link = folder.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path("real"))
        let fetcher = try Fetcher(FetchConfiguration.forTests.with(\.allowedRoots, [link]))
        #expect(try await fetcher.fetch("file://\(link)/a.jpg").bytes == 1)
        #expect(try await fetcher.fetch(folder.uri(of: "real/a.jpg")).bytes == 1)
    }

    @Test
    func theWholeFileSystemCanBeAllowed() async throws {
        try folder.write(Data("x".utf8), to: "a.jpg")
        let fetcher = try Fetcher(FetchConfiguration.forTests.with(\.allowedRoots, ["/"]))
        #expect(try await fetcher.fetch(folder.uri(of: "a.jpg")).bytes == 1)
        let failure = try await failure(of: "file:///", with: fetcher)
        #expect(failure.message == "/ is a folder, not a file")
    }

    @Test
    func aChangeAfterTheFetchIsSeen() async throws {
        let path = try folder.write(Data("picture".utf8), to: "a.jpg")
        let source = try await fetcher.fetch(folder.uri(of: "a.jpg"))
        #expect(source.changeSinceOpened() == nil)
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("!".utf8))
        try handle.close()
        let failure = try #require(source.changeSinceOpened())
        #expect(failure.code == .sourceChanged)
        #expect(failure.isRetryable)
        #expect(failure.message.contains(path))
    }

    @Test
    func aChangeWhileItIsReadIsAFailure() async throws {
        let path = folder.path("growing.jpg")
        #expect(FileManager.default.createFile(atPath: path, contents: Data("x".utf8)))
        #expect(truncate(path, 90_000_000) == 0)
        let isOver = Mutex(false)
        let writer = DispatchQueue(label: "writer")
        await withCheckedContinuation { begun in
            writer.async {
                truncate(path, 90_000_001)
                begun.resume()
            }
        }
        writer.async {
            while !isOver.withLock(\.self) { truncate(path, 90_000_000 + Int.random(in: 1...1_000)) }
        }
        defer { isOver.withLock { $0 = true } }
        try await expect(.sourceChanged, of: "file://\(path)", by: fetcher, isRetryable: true)
    }
}
