import CameoFetch
import CameoModel
import CameoSystem
import Foundation
import TestSupport
import Testing

@Suite(.origin, .timeLimit(.minutes(10)))
struct HTTPSourceTests {
    private let origin = Origin.ofSuite
    private let fetcher: Fetcher

    init() throws { fetcher = try Fetcher(.forTests) }

    @Test(arguments: [1, 16_385, 3_000_000])
    func aPictureArrivesInASealedFileWithItsDigest(count: Int) async throws {
        let source = try await fetcher.fetch(origin.url("/bytes?count=\(count)&type=Image/PNG;%20charset=x"))
        let bytes = Data(repeating: UInt8(ascii: "x"), count: count)
        #expect(try source.contents() == bytes)
        #expect(source.bytes == count)
        #expect(source.digest == BlobDigest(of: bytes))
        #expect(source.mediaType == "image/png")
        #expect(source.offset == 0)
        #expect(source.changeSinceOpened() == nil)
        #expect(write(source.file.descriptor, "x", 1) == -1)
        #expect(ftruncate(source.file.descriptor, 0) == -1)
        #expect(fcntl(source.file.descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test
    func filesOfAFolderAreServed() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Data("a picture".utf8), to: "a b.jpg")
        let origin = try await Origin.start(serving: folder.path)
        let source = try await fetcher.fetch(origin.url("/picture.jpg?file=a b.jpg"))
        #expect(try source.contents() == Data("a picture".utf8))
        #expect(source.mediaType == "image/jpeg")
    }

    @Test
    func compressedBytesAreDecoded() async throws {
        let source = try await fetcher.fetch(origin.url("/gzip"))
        #expect(try source.contents() == Data(String(repeating: "picture", count: 1_000).utf8))
    }

    /// Browsers pass such a body on as it is. Stores of objects put character sets and their own framing there.
    @Test(arguments: ["utf-8", "aws-chunked", "binary", "UTF-8, none", "gzip, aws-chunked", "compress"])
    func aCodingThatNobodyKnowsIsNone(coding: String) async throws {
        let path = "/scripted/coding-\(coding.filter(\.isLetter))"
        try await origin.script(path, ScriptedAnswer(200, ["Content-Encoding: \(coding)"], body: "a picture"))
        #expect(try await fetcher.fetch(origin.url(path)).contents() == Data("a picture".utf8))
    }

    @Test(arguments: [
        ScriptedAnswer(203, ["Cache-Control: max-age=60"], body: "a picture"),
        ScriptedAnswer(206, ["Content-Range: bytes 0-8/9"], body: "a picture"),
        ScriptedAnswer(206, ["Content-Range: Bytes 0-8/9", "Content-Encoding: identity"], body: "a picture"),
    ])
    func anAnswerThatHoldsTheWholeIsUsed(answer: ScriptedAnswer) async throws {
        let origin = try await Origin.start()
        try await origin.script("/scripted/whole", answer)
        #expect(try await fetcher.fetch(origin.url("/scripted/whole")).contents() == Data("a picture".utf8))
    }

    @Test(arguments: [
        "Content-Range: bytes 0-8/10", "Content-Range: bytes 1-9/10", "Content-Range: bytes 0-8/*",
        "Content-Range: bytes 0-18/19", "Content-Range: bytes 0-8", "Content-Type: multipart/byteranges; boundary=x",
    ])
    func aPartThatNobodyAskedForIsRefused(field: String) async throws {
        let origin = try await Origin.start()
        try await origin.script("/scripted/part", ScriptedAnswer(206, [field], body: "a picture"))
        let failure = try await failure(of: origin.url("/scripted/part"), with: fetcher)
        #expect(failure.code == .sourceHTTPStatus && failure.message.contains("206 Partial Content"))
    }

    @Test
    func theSchemeMayBeWrittenInAnyCase() async throws {
        let url = origin.url("/bytes")
        #expect(try await fetcher.fetch("HTTP" + url.dropFirst(4)).bytes == 1_000)
    }

    @Test
    func connectionsAreUsedAgain() async throws {
        let origin = try await Origin.start()
        for _ in 0..<10 { _ = try await fetcher.fetch(origin.url("/bytes")) }
        for status in [404, 500] { _ = try await failure(of: origin.url("/status/\(status)"), with: fetcher) }
        _ = try await fetcher.fetch(origin.url("/redirect?to=/bytes"))
        #expect(try await origin.counts().connections == 1)
    }

    @Test
    func headersOfTheRequestAreSent() async throws {
        let headers = ["X-Token": "secret", "Accept": "image/avif", "X-Empty": "", "User-Agent": "Own/1"]
        let echo = try await echoedHeaders(origin.url("/headers"), headers)
        #expect(echo["x-token"] == "secret")
        #expect(echo["accept"] == "image/avif")
        #expect(echo["x-empty"] == "")
        #expect(echo["user-agent"] == "Own/1")
    }

    @Test
    func withoutHeadersThoseOfCameoAreSent() async throws {
        let echo = try await echoedHeaders(origin.url("/headers"), [:])
        #expect(echo["user-agent"] == FetchConfiguration().userAgent)
        #expect(echo["accept"]?.hasPrefix("image/*") == true)
        #expect(echo["accept-encoding"]?.contains("gzip") == true)
        #expect(echo["cookie"] == nil)
        #expect(echo["authorization"] == nil)
    }

    @Test
    func userAndPasswordOfTheURLAreSentAndNotShown() async throws {
        let url = origin.url("/headers", host: "us%65r:p%40ss@127.0.0.1")
        let expected = "Basic " + Data("user:p@ss".utf8).base64EncodedString()
        #expect(try await echoedHeaders(url, [:])["authorization"] == expected)
        let failure = try await failure(of: origin.url("/status/404", host: "user:pass@127.0.0.1"), with: fetcher)
        #expect(failure.message == "GET \(origin.url("/status/404")) answered 404 Not Found")
    }

    @Test
    func aProxyOfTheEnvironmentIsIgnored() async throws {
        // In a process of its own: other threads read the environment of this one.
        await #expect(processExitsWith: .success) {
            setenv("http_proxy", "http://127.0.0.1:1/", 1)
            setenv("ALL_PROXY", "http://127.0.0.1:1/", 1)
            let origin = try await Origin.start()
            #expect(try await Fetcher(.forTests).fetch(origin.url("/bytes")).bytes == 1_000)
        }
    }

    @Test
    func aConfiguredProxyIsUsed() async throws {
        let proxied = try Fetcher(FetchConfiguration.forTests.with(\.proxy, origin.url("")))
        // The origin takes the whole URL for a path, which it does not know; the name would not resolve.
        try await expect(.sourceNotFound, of: "http://pictures.invalid/a.jpg", by: proxied)
    }

    private func echoedHeaders(_ url: String, _ headers: [String: String]) async throws -> [String: String] {
        let contents = try await fetcher.fetch(url, headers: headers).contents()
        let echo = try JSONDecoder().decode([String: String].self, from: contents)
        return Dictionary(echo.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
