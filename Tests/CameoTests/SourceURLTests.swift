import Cameo
import Foundation
import FoundationNetworking
import StoreConformance
import TestSupport
import Testing

/// `cameo://source/…`: the cached original.
@Suite(.timeLimit(.minutes(10)))
struct SourceURLTests {
    private let bench: Workbench
    private let client: Client
    private let session: URLSession
    private let source = "https://example.com/a picture.txt?x=1"
    private let uri: CameoURI

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
        session = .cameo(client)
        uri = try #require(CameoURI("cameo://source/https%3A%2F%2Fexample.com%2Fa%20picture.txt%3Fx%3D1"))
    }

    private func get(_ url: URL, _ headers: [String: String] = [:]) async throws -> Loaded {
        try await session.get(url, headers)
    }

    @Test func itCarriesItsTypeEncodingTagAndTheRestOfItsFreshness() async throws {
        let started = ContinuousClock.now
        try await bench.keep(source, Data("text".utf8), mediaType: "text/plain", textEncoding: "koi8-r", freshFor: 600)
        let loaded = try await get(uri.url)
        #expect(loaded.text == "text" && loaded.status == 200)
        #expect(loaded.response.mimeType == "text/plain" && loaded.response.textEncodingName == "koi8-r")
        let digest = try #require(try await client.store(Data("text".utf8)).description.split(separator: "/").last)
        #expect(loaded["ETag"] == "\"\(digest)\"")
        let seconds = try #require(loaded["Cache-Control"]?.split(separator: "=").last.flatMap { Int($0) })
        let passed = Int(started.duration(to: .now).components.seconds) + 1
        #expect((600 - passed...600).contains(seconds))
        #expect(try await get(uri.url, ["If-None-Match": "\"\(digest)\""]).status == 304)
        #expect(try await get(uri.url, ["Range": "bytes=1-2"]).text == "ex")
        #expect(try await client.data(for: uri) == Data("text".utf8))
    }

    @Test func aPicturesOwnBytesAreBelieved() async throws {
        try await bench.keep(source, Workbench.picture(1), mediaType: "text/html", textEncoding: "utf-8", freshFor: -5)
        let loaded = try await get(uri.url)
        #expect(loaded["Content-Type"] == "image/webp" && loaded["Cache-Control"] == "no-cache")
    }

    @Test(arguments: ["text", "text/html\r\nX: 1", "a/b/c", ""])
    func aTypeThatIsNoneIsNotSent(type: String) async throws {
        try await bench.keep(source, Data("text".utf8), mediaType: type, textEncoding: "utf-8\r\nX: 1", freshFor: 600)
        #expect(try await get(uri.url)["Content-Type"] == "application/octet-stream")
    }

    @Test func aTenantsOwnIsNobodysElse() async throws {
        try await bench.keep(source, Data("theirs".utf8), freshFor: 600, headers: ["Authorization": "Bearer 1"])
        await #expect(throws: CameoURLError.noDataAvailable(uri.description)) { try await get(uri.url) }
        await #expect(throws: CameoURLError.noDataAvailable(uri.description)) { try await client.data(for: uri) }
    }

    @Test func oneThatIsFetchedMeanwhileIsWaitedFor() async throws {
        async let loaded = get(uri.url(waiting: 30))
        await #expect(throws: CameoURLError.noDataAvailable(uri.description)) { try await get(uri.url) }
        try await bench.keep(source, Data("text".utf8), freshFor: 600)
        let text = try await loaded.text
        #expect(text == "text")
    }
}
