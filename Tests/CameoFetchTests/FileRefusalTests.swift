import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FileRefusalTests {
    private let folder: TemporaryFolder
    private let root: String
    private let fetcher: Fetcher

    init() throws {
        folder = try TemporaryFolder()
        root = try folder.makeFolder("pictures")
        try folder.write(Data("secret".utf8), to: "secret.txt")
        try folder.write(Data("secret".utf8), to: "pictures-private/secret.txt")
        fetcher = try Fetcher(
            FetchConfiguration.forTests.with(\.allowedRoots, [root]).with(\.maximumBytes, 1_000)
        )
    }

    @Test
    func whatIsOutsideIsRefusedWithTheOptionThatWouldAllowIt() async throws {
        let failure = try await failure(of: "file:///etc/passwd", with: fetcher)
        #expect(failure.code == .sourceForbidden && failure.lack?.description == "file:///etc")
        #expect(
            failure.message == "/etc/passwd is outside the allowed folders (\(root)); "
                + "start the worker with --allow-root /etc to allow it"
        )
    }

    @Test
    func withoutRootsNothingIsAllowed() async throws {
        try await expect(.sourceForbidden, of: "file:///etc/passwd", by: Fetcher(.forTests), saying: "(none)")
    }

    @Test(arguments: [
        "pictures/../secret.txt", "pictures/%2e%2e/secret.txt", "pictures/..%2Fsecret.txt",
        "pictures-private/secret.txt", "pictures%CC%81/../secret.txt", "pictures/\u{301}/../../secret.txt",
        "pictures/a/../../secret.txt", "secret.txt", "missing.txt",
    ])
    func noSpellingLeadsOut(path: String) async throws {
        try await expect(.sourceForbidden, of: folder.uri(of: path), by: fetcher, saying: "--allow-root")
    }

    @Test(arguments: ["../secret.txt", "/etc/passwd", "/proc/self/root/etc/passwd", ".."])
    func aLinkThatLeadsOutIsRefused(target: String) async throws {
        let link = folder.path("pictures/link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        for path in target == ".." ? ["link/secret.txt"] : ["link"] {
            let failure = try await failure(of: "file://\(root)/\(path)", with: fetcher)
            #expect(failure.code == .sourceForbidden)
            #expect(failure.message.contains("link"))
            #expect(failure.message.contains("--allow-root"))
        }
    }

    @Test
    func aMissingFileIsNotFound() async throws {
        try folder.write(Data("x".utf8), to: "pictures/a.jpg")
        for path in ["missing.jpg", "missing/a.jpg", "a.jpg/b.jpg"] {
            let failure = try await failure(of: "file://\(root)/\(path)", with: fetcher)
            #expect(failure.code == .sourceNotFound)
            #expect(failure.message == "\(root)/\(path) does not exist")
            #expect(!failure.isRetryable)
            // Another host may have the folder.
            let folder = path == "missing/a.jpg" ? "file://\(root)/missing" : nil
            #expect(failure.lack?.description == folder)
        }
    }

    @Test
    func onlyRegularFilesAreRead() async throws {
        try folder.makeFolder("pictures/folder")
        #expect(mkfifo("\(root)/fifo", 0o600) == 0)
        let socketPath = "\(root)/s"
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8.prefix(107)) }
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        #expect(isBound)
        for (name, reason) in [
            ("folder", "is a folder"), ("folder/", "is a folder"), ("fifo", "not a regular"), ("s", "not a regular"),
        ] {
            try await expect(.sourceInvalid, of: "file://\(root)/\(name)", by: fetcher, saying: reason)
        }
        let all = try Fetcher(FetchConfiguration.forTests.with(\.allowedRoots, ["/"]))
        #expect(try await failure(of: "file:///dev/zero", with: all).code == .sourceInvalid)
    }

    @Test
    func emptyAndTooLargeFilesAreRefused() async throws {
        try folder.write(Data(), to: "pictures/empty.jpg")
        try folder.write(Data(count: 1_001), to: "pictures/large.jpg")
        let empty = try await failure(of: "file://\(root)/empty.jpg", with: fetcher)
        #expect(empty.code == .sourceInvalid)
        #expect(empty.message == "\(root)/empty.jpg is empty")
        let large = try await failure(of: "file://\(root)/large.jpg", with: fetcher)
        #expect(large.code == .sourceTooLarge)
        #expect(large.message == "\(root)/large.jpg has 1001 bytes, more than the allowed 1000")
    }

    @Test(.disabled(if: geteuid() == 0, "root may read everything"))
    func aFileThatMayNotBeReadIsForbidden() async throws {
        let path = try folder.write(Data("x".utf8), to: "pictures/closed.jpg")
        #expect(chmod(path, 0) == 0)
        #expect(try await failure(of: "file://\(path)", with: fetcher).code == .sourceForbidden)
    }

    @Test(arguments: [
        ("file://other.host/srv/a.jpg", "names a host"), ("file://a.jpg", "names a host"),
        ("file:/srv/a.jpg", "file:///"),
        ("file:a.jpg", "file:///"), ("file:", "file:///"), ("file://localhost", "absolute"),
        ("file:///srv/a.jpg?x", "%3F"), ("file:///srv/a.jpg#x", "%23"), ("file:///srv/a%00.jpg", "NUL"),
        ("file:///srv/a%.jpg", "hexadecimal"), ("file:///srv/a%4", "hexadecimal"),
        ("file:///srv/a%+1.jpg", "hexadecimal"),
    ])
    func whatIsNoFileURIIsInvalid(uri: String, reason: String) async throws {
        try await expect(.sourceInvalid, of: uri, by: fetcher, saying: reason)
    }

    @Test
    func messagesCannotForgeLines() async throws {
        let failure = try await failure(of: "file:///srv/a%0A%1B%5B2Jb.jpg", with: fetcher)
        #expect(failure.message.hasPrefix("/srv/a\\u{a}\\u{1b}[2Jb.jpg is outside"))
    }
}
