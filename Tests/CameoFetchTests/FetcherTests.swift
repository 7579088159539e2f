import CameoFetch
import CameoModel
import CameoSystem
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct FetcherTests {
    @Test(arguments: ["ftp://host/a.png", "gopher:x", "javascript:alert(1)", "cameo://thumb/x", "smb+x://y/z"])
    func anUnknownSchemeIsRefusedByName(source: String) async throws {
        let failure = try await failure(of: source, with: Fetcher(.forTests))
        #expect(failure.code == .sourceUnsupportedScheme)
        #expect(failure.message.contains("data:, file:, http:, https:"))
        #expect(failure.message.contains(String(source.prefix { $0 != ":" })))
        #expect(!failure.isRetryable)
    }

    @Test(arguments: ["picture.jpg", "/srv/picture.jpg", "", "://x", "1a:b", "a b:c", "-x:y"])
    func aSourceWithoutSchemeIsToldHowFilesAreWritten(source: String) async throws {
        try await expect(.sourceInvalid, of: source, by: Fetcher(.forTests), saying: "file:///")
    }

    @Test
    func aMissingRootOrStoreIsNamed() throws {
        let folder = try TemporaryFolder()
        let missing = folder.path("missing")
        let file = try folder.write(Data("x".utf8), to: "file")
        #expect(throws: FetchConfigurationError.root(path: missing, Errno(ENOENT))) {
            try Fetcher(FetchConfiguration.forTests.with(\.allowedRoots, [folder.path, missing]))
        }
        #expect(throws: FetchConfigurationError.root(path: file, Errno(ENOTDIR))) {
            try Fetcher(FetchConfiguration.forTests.with(\.allowedRoots, [file]))
        }
        #expect(throws: FetchConfigurationError.store(path: missing, Errno(ENOENT))) {
            try Fetcher(FetchConfiguration.forTests.with(\.deniedDirectory, missing))
        }
    }

    @Test(arguments: ["", "a b", "http://host", "host:port", "host:99999", "[::1", "user@host", "fe80::1%eth0"])
    func anAllowedHostThatIsNoneIsNamed(host: String) {
        #expect(throws: FetchConfigurationError.host(host)) {
            try Fetcher(FetchConfiguration.forTests.with(\.allowedHosts, [host]))
        }
    }

    @Test
    func limitsMustBePositive() {
        #expect(throws: FetchConfigurationError.self) {
            try Fetcher(FetchConfiguration.forTests.with(\.maximumBytes, 0))
        }
        #expect(throws: FetchConfigurationError.self) {
            try Fetcher(FetchConfiguration.forTests.with(\.totalTimeout, .zero))
        }
    }

    @Test
    func aCancelledTaskFetchesNothing() async throws {
        let fetcher = try Fetcher(.forTests)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await fetcher.fetch("data:,x")
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: ["file:///tmp/x", "http://127.0.0.1:1/x"])
    func afterTheShutdownEveryFetchEndsAsCancelled(source: String) async throws {
        let fetcher = try Fetcher(FetchConfiguration.forTests.with(\.allowedRoots, ["/"]))
        fetcher.shutdown()
        await #expect(throws: CancellationError.self) { try await fetcher.fetch(source) }
    }
}
