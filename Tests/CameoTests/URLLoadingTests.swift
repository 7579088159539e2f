import Cameo
import Foundation
import FoundationNetworking
import StoreConformance
import TestSupport
import Testing

/// Loads of `cameo:` URLs in a session, as HTTP would answer them.
@Suite(.timeLimit(.minutes(10)))
struct URLLoadingTests {
    private let bench: Workbench
    private let client: Client
    private let session: URLSession

    init() throws {
        bench = try Workbench()
        client = try Client(store: bench.path)
        session = .cameo(client)
    }

    private func thumbnail(_ picture: Data) async throws -> CameoURI {
        let request = ThumbnailRequest(source: "file:///a.jpg", renditions: [Rendition(width: 64)])
        let job = try await client.enqueue(request)
        let worker = try await bench.register()
        #expect(try await bench.work(worker) { _ in picture } == 1)
        return job.thumbnails[0].uri
    }

    @Test func aThumbnailCarriesItsTypeLengthTagAndFreshness() async throws {
        let picture = Workbench.picture(1)
        let uri = try await thumbnail(picture)
        let loaded = try await session.get(uri.url)
        let blob = try await client.store(picture)
        let digest = try #require(blob.description.split(separator: "/").last)
        #expect(loaded.data == picture)
        #expect(loaded.status == 200)
        #expect(loaded.response.mimeType == "image/webp")
        #expect(loaded.response.expectedContentLength == 4_000)
        #expect(loaded["ETag"] == "\"\(digest)\"")
        #expect(loaded["Cache-Control"] == "no-cache")
        #expect(loaded.response.url == uri.url)
    }

    @Test(arguments: [1_000, 300_000])
    func storedBytesComeBackWithTheirType(count: Int) async throws {
        let picture = Workbench.picture(2, bytes: count)
        let loaded = try await session.get(try await client.store(picture, mediaType: "image/png").url)
        #expect(loaded.data == picture)
        #expect(loaded.response.mimeType == "image/webp", "its own first bytes are believed, not its label")
        #expect(loaded["Cache-Control"] == "max-age=31536000, immutable")
        let text = try await client.store(Data("{\"number\":\(count)}".utf8), mediaType: "application/json")
        #expect(try await session.get(text.url).response.mimeType == "application/json")
        let unknown = try await client.store(Data("bytes \(count)".utf8))
        #expect(try await session.get(unknown.url).response.mimeType == "application/octet-stream")
    }

    /// That costs a look at one row: these bytes could not be read.
    @Test func whoHasTheBytesNeedsNoneOfTheStore() async throws {
        let picture = Workbench.picture(8)
        let uri = try await client.store(picture)
        let tag = try #require(try await session.get(uri.url)["ETag"])
        try await bench.damage(picture)
        #expect(try await session.get(uri.url, ["If-None-Match": tag]).status == 304)
        let other = try Client(store: bench.path)
        await #expect(throws: CameoURLError.self) { try await other.data(for: uri) }
    }

    @Test func whoHasTheBytesGets304() async throws {
        let uri = try await thumbnail(Workbench.picture(3))
        let tag = try #require(try await session.get(uri.url)["ETag"])
        for field in [tag, "\"other\", W/\(tag)", "*"] {
            let loaded = try await session.get(uri.url, ["If-None-Match": field])
            #expect(loaded.status == 304 && loaded.data.isEmpty)
            #expect(loaded["ETag"] == tag)
        }
        #expect(try await session.get(uri.url, ["If-None-Match": "\"other\""]).status == 200)
    }

    @Test func whoWantsOtherBytesGets412() async throws {
        let uri = try await client.store(Workbench.picture(3))
        let tag = try #require(try await session.get(uri.url)["ETag"])
        #expect(try await session.get(uri.url, ["If-Match": tag]).status == 200)
        #expect(try await session.get(uri.url, ["If-Match": tag, "Range": "bytes=0-9"]).status == 206)
        for field in ["\"other\"", "W/\(tag)", "\"a,b\""] {
            let loaded = try await session.get(uri.url, ["If-Match": field, "Range": "bytes=0-9"])
            #expect(loaded.status == 412 && loaded.data.isEmpty)
        }
    }

    @Test(arguments: [
        ("bytes=0-9", 0..<10), ("bytes=3990-", 3_990..<4_000), ("bytes=-5", 3_995..<4_000),
        ("bytes=10-99999", 10..<4_000), ("bytes=3999-3999", 3_999..<4_000), ("bytes=-99999", 0..<4_000),
    ])
    func aRangeIsAPartOfTheBytes(field: String, range: Range<Int>) async throws {
        let picture = Workbench.picture(4)
        let loaded = try await session.get(try await client.store(picture).url, ["Range": field])
        #expect(loaded.status == 206)
        #expect(loaded.data == picture.subdata(in: range))
        let expected = "bytes \(range.lowerBound)-\(range.upperBound - 1)/4000"
        #expect(loaded["Content-Range"] == expected)
        #expect(loaded.response.expectedContentLength == Int64(range.count))
    }

    @Test func rangesThatCannotBeServedAreRefusedOrIgnored() async throws {
        let uri = try await client.store(Workbench.picture(5))
        for field in ["bytes=4000-", "bytes=-0"] {
            let loaded = try await session.get(uri.url, ["Range": field])
            #expect(loaded.status == 416 && loaded.data.isEmpty)
            #expect(loaded["Content-Range"] == "bytes */4000")
        }
        for field in ["bytes=9-3", "bytes=0-1,5-6", "lines=0-1", "bytes=x-1", "bytes=-"] {
            #expect(try await session.get(uri.url, ["Range": field]).status == 200)
        }
        let tag = try #require(try await session.get(uri.url)["ETag"])
        #expect(try await session.get(uri.url, ["Range": "bytes=0-1", "If-Range": tag]).status == 206)
        #expect(try await session.get(uri.url, ["Range": "bytes=0-1", "If-Range": "\"old\""]).status == 200)
    }

    @Test func headHasNoBodyAndOtherMethodsAreNotAllowed() async throws {
        let uri = try await client.store(Workbench.picture(6))
        let loaded = try await session.get(uri.url, method: "HEAD")
        #expect(loaded.data.isEmpty && loaded.status == 200)
        #expect(loaded["Content-Length"] == "4000")
        #expect(try await session.get(uri.url, method: "DELETE").status == 405)
    }

    @Test(arguments: ["thumb/00112233445566778899aabbccddeeff", "blob/sha256-\(String(repeating: "0", count: 64))"])
    func whatIsNotThereIsNoDataAvailable(name: String) async throws {
        let url = try #require(URL(string: "cameo://\(name)"))
        await #expect(throws: CameoURLError.noDataAvailable(url.absoluteString)) { try await session.get(url) }
    }

    /// `URL(string:)` escapes a lone percent sign itself, so only other escapes can arrive malformed.
    @Test(arguments: ["cameo://thumb/%FF%FE", "cameo://blob/%C3%28", "cameo://source/http%3A%2F%2Fa%2F%E9"])
    func escapesThatAreNotTextAreIncorrectlyEncoded(text: String) async throws {
        let url = try #require(URL(string: text))
        await #expect(throws: CameoURLError.incorrectlyEncodedURL(url.absoluteString)) { try await session.get(url) }
    }

    @Test(arguments: [
        "cameo:thumb", "cameo://thumb/", "cameo://thumb/../x", "cameo://thumb/XYZ", "cameo://video/1",
        "cameo://blob/md5-1", "cameo://thumb/00112233445566778899aabbccddeeff?wait=31",
        "cameo://thumb/00112233445566778899aabbccddeeff?size=9",
        "cameo://thumb/00112233445566778899aabbccddeeff?wait=nan", "cameo://thumb/00112233445566778899aabbccddeeff/",
    ])
    func whatCanNameNothingIsUnsupported(text: String) async throws {
        let url = try #require(URL(string: text))
        let error = await #expect(throws: CameoURLError.self) { try await session.get(url) }
        guard case .unsupportedURL(url.absoluteString, _) = try #require(error) else {
            Issue.record("\(text): \(String(describing: error))")
            return
        }
    }

    @Test func everySpellingOfAnAddressIsUnderstood() async throws {
        let uri = try await thumbnail(Workbench.picture(7))
        let id = try #require(uri.description.split(separator: "/").last)
        let first = try #require(id.utf8.first)
        let escaped = "CAMEO://Thumb/%\(String(first, radix: 16))\(id.dropFirst())#part"
        let url = try #require(URL(string: escaped))
        #expect(try await session.get(url).data == Workbench.picture(7))
        #expect(CameoURLProtocol.canonicalRequest(for: URLRequest(url: url)).url == uri.url)
    }

    @Test func damagedBytesAreNeverServed() async throws {
        let picture = Workbench.picture(8, bytes: 200_000)
        let uri = try await client.store(picture)
        let hex = uri.description.suffix(64)
        let file = URL(filePath: "\(client.path)/blobs/\(hex.prefix(2))/\(hex.dropFirst(2))")
        var damaged = picture
        damaged[100_000] ^= 1
        try damaged.write(to: file)
        let expected = CameoURLError.damagedData(uri.description)
        await #expect(throws: expected) { try await session.get(uri.url) }
        await #expect(throws: expected) { try await client.data(for: uri) }
        try FileManager.default.removeItem(at: file)
        await #expect(throws: expected) { try await session.get(uri.url) }
        _ = try await client.store(picture)
        #expect(try await session.get(uri.url).data == picture)
    }

    @Test func aThumbnailThatAppearsMeanwhileIsWaitedFor() async throws {
        let request = ThumbnailRequest(source: "file:///b.jpg", renditions: [Rendition(width: 64)])
        let uri = try await client.enqueue(request).thumbnails[0].uri
        let worker = try await bench.register()
        async let loaded = session.get(uri.url(waiting: 30)).data
        // The same name without waiting: it is not there, and the other request has begun.
        await #expect(throws: CameoURLError.noDataAvailable(uri.description)) { try await session.get(uri.url) }
        try await bench.work(worker) { _ in Workbench.picture(9) }
        let data = try await loaded
        #expect(data == Workbench.picture(9))
    }

    @Test func waitingEndsWithItsTime() async throws {
        let url = try #require(URL(string: "cameo://thumb/00112233445566778899aabbccddeeff?wait=0.2"))
        let started = ContinuousClock.now
        await #expect(throws: CameoURLError.noDataAvailable(url.absoluteString)) { try await session.get(url) }
        #expect(started.duration(to: .now) >= .milliseconds(200))
    }

    @Test func theShorterOfWaitAndTimeoutEndsALoad() async throws {
        let name = "cameo://thumb/00112233445566778899aabbccddeeff"
        for (wait, timeout, isTimeout) in [(30, 0.2, true), (0.2, 30, false), (0.2, 0, false)] {
            let url = try #require(URL(string: "\(name)?wait=\(wait)"))
            let request = URLRequest(url: url, timeoutInterval: timeout)
            let resource = Resource(request) { data, _ in data }
            for ending in [
                await #expect(throws: (any Error).self) { try await session.data(for: request) },
                await #expect(throws: (any Error).self) { try await client.load(resource) },
            ] {
                #expect(((ending as? URLError)?.code == .timedOut) == isTimeout, "\(String(describing: ending))")
                #expect((ending is CameoURLError) == !isTimeout)
            }
        }
    }

    @Test func aCancelledLoadDoesNotWaitForItsEnd() async throws {
        let url = try #require(URL(string: "cameo://thumb/00112233445566778899aabbccddeeff?wait=30"))
        let load = Task { try await session.get(url).data }
        load.cancel()
        let ending = await #expect(throws: (any Error).self) { try await load.value }
        #expect(!(ending is CameoURLError), "it was waited for, and nothing came")
        let later = Task { try await session.get(url).data }
        await #expect(throws: CameoURLError.self) {
            try await session.get(try #require(URL(string: "cameo://thumb/00112233445566778899aabbccddeeff")))
        }
        later.cancel()
        let laterEnding = await #expect(throws: (any Error).self) { try await later.value }
        #expect(!(laterEnding is CameoURLError), "it was waited for, and nothing came")
    }
}
