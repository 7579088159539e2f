import Cameo
import Foundation
import FoundationNetworking
import StoreConformance
import TestSupport
import Testing

/// Servers and stores in trouble, and loads that are called off.
@Suite(.timeLimit(.minutes(10)), .origin)
struct TroubleTests {
    @Test func whatWasLoadedIsServedWhenTheNetworkIsGone() async throws {
        let (origin, path) = (try await Origin.start(), Reader.path())
        let reader = try Reader(ReadThrough(), at: origin)
        try await origin.script(path, .stale("0123456789"))
        _ = try await reader.get(path)
        await origin.end()
        let stale = try await reader.get(path)
        #expect(stale.text == "0123456789" && stale.status == 200)
        #expect(stale.cacheStatus.hasPrefix("Cameo; hit; ttl=-") && stale.cacheStatus.contains("detail=\"-100"))
        #expect(try await reader.get(path, ["Range": "bytes=0-1"]).text == "01")
        #expect(try await reader.get(path, method: "HEAD").status == 200)
        // Who asked for the server's own answer is told why there is none.
        let error = await #expect(throws: URLError.self) {
            try await reader.get(path, [:], .reloadIgnoringLocalCacheData)
        }
        #expect(error?.code == .cannotConnectToHost)
        await #expect(throws: URLError.self) { try await reader.get(Reader.path()) }
    }

    @Test(arguments: [(Duration.zero, 503), (.seconds(600), 200)])
    func aServerInTroubleIsCoveredForAsLongAsAllowed(allowance: Duration, status: Int) async throws {
        let (reader, path) = try await Reader.scripted(
            .stale("picture"),
            ScriptedAnswer(503, [], body: "sorry"),
            rules: ReadThrough(staleIfError: allowance)
        )
        _ = try await reader.get(path)
        let second = try await reader.get(path)
        #expect(second.status == status)
        #expect(second.text == (status == 200 ? "picture" : "sorry"))
        #expect(second.cacheStatus.contains("detail=\"503\"") == (status == 200))
    }

    @Test func aPictureThatIsGoneDoesNotComeBack() async throws {
        let (reader, path) = try await Reader.scripted(.stale("picture"), ScriptedAnswer(410))
        #expect(try await reader.get(path).status == 200)
        #expect(try await reader.get(path).status == 410)
        let error = await #expect(throws: URLError.self) { try await reader.get(path, [:], .returnCacheDataDontLoad) }
        #expect(error?.code == .resourceUnavailable)
    }

    /// What a server says of the moment tells nothing about the picture.
    @Test(arguments: [408, 429, 500])
    func aPictureOutlivesAnErrorOfTheMoment(status: Int) async throws {
        let (reader, path) = try await Reader.scripted(.stale("picture"), ScriptedAnswer(status))
        #expect(try await reader.get(path).status == 200)
        #expect(try await reader.get(path).status == status)
        #expect(try await reader.get(path, [:], .returnCacheDataDontLoad).text == "picture")
    }

    @Test(arguments: [
        ("/hangup", URLError.Code.networkConnectionLost), ("/truncated", .networkConnectionLost),
        ("/chunk-truncated", .networkConnectionLost),
    ])
    func errorsOfTheNetworkArriveAsTheyAre(path: String, code: URLError.Code) async throws {
        let reader = try Reader(ReadThrough(defaultLifetime: .seconds(600)))
        let plain = await #expect(throws: URLError.self) {
            try await URLSession(configuration: .ephemeral).data(from: try reader.url(path))
        }
        for _ in 0..<2 {
            let error = await #expect(throws: URLError.self) { try await reader.get(path) }
            #expect(error?.code == plain?.code)
        }
        // Half a body is not kept.
        await #expect(throws: URLError.self) { try await reader.get(path, [:], .returnCacheDataDontLoad) }
    }

    @Test func aTimeoutOfTheRequestIsKept() async throws {
        let reader = try Reader()
        var request = URLRequest(url: try reader.url("/never"))
        request.timeoutInterval = 1
        let error = await #expect(throws: URLError.self) { try await reader.session.data(for: request) }
        #expect(error?.code == .timedOut)
    }

    @Test(arguments: ["/slow", "/stall", "/never"])
    func aLoadThatIsCalledOffEndsTheTransfer(route: String) async throws {
        let origin = try await Origin.start()
        let reader = try Reader(ReadThrough(), at: origin)
        let load = Task { try await reader.get(route) }
        try await origin.awaitArrivals(of: route)
        load.cancel()
        try await origin.awaitAborts(of: route)
        let error = await #expect(throws: (any Error).self) { try await load.value }
        #expect((error as? URLError)?.code != .timedOut)
    }

    /// Somebody answers, who is not the server.
    @Test func aCertificateThatCannotBeTrustedIsNoAbsence() async throws {
        let folder = try TemporaryFolder()
        let origin = try await Origin.start(tls: folder.path)
        let reader = try Reader(ReadThrough(staleIfError: .seconds(600)), at: origin)
        // By its number: of `localhost`, URLSession with libcurl 8.14 reports only that ::1 refused the connection.
        let url = try reader.url("/scripted/a")
        try await reader.bench.keep(url.absoluteString, Data("old".utf8), freshFor: -1)
        await #expect(throws: URLError.self) { try await reader.get(url) }
        await origin.end()
        #expect(try await reader.get(url).text == "old")
    }

    /// Small blobs stand in the database, large ones in files.
    @Test(arguments: [200, 200_000])
    func damagedBytesAreLoadedAnew(bytes: Int) async throws {
        let (reader, path) = (try Reader(memoryCapacity: 0), Reader.path())
        let body = String(repeating: "0123456789", count: bytes / 10)
        let fields = ["Cache-Control: max-age=600", "Content-Type: image/png"]
        try await reader.origin.script(path, ScriptedAnswer(200, fields, body: body))
        _ = try await reader.get(path)
        try await reader.bench.damage(Data(body.utf8))
        let again = try await reader.get(path)
        #expect(
            again.text == body && again.cacheStatus.hasPrefix("Cameo; fwd=miss; stored; detail=\"the stored bytes of")
        )
        #expect(try await reader.get(path).cacheStatus.hasPrefix("Cameo; hit"))
        #expect(try await reader.count(path) == 2)
    }

    /// Nothing comes to take its place, and it is gone all the same.
    @Test func aDamagedAnswerIsDroppedAlsoWhenItsServerIsAway() async throws {
        let (origin, path) = (try await Origin.start(), Reader.path())
        let reader = try Reader(ReadThrough(), at: origin, memoryCapacity: 0)
        try await origin.script(path, .fresh())
        _ = try await reader.get(path)
        try await reader.bench.damage(Data("picture".utf8))
        await origin.end()
        await #expect(throws: URLError.self) { try await reader.get(path) }
        let url = try reader.url(path).absoluteString
        let name = try #require(url.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let source = try #require(CameoURI("cameo://source/\(name)"))
        await #expect(throws: CameoURLError.noDataAvailable(source.description)) { try await reader.get(source.url) }
    }

    @Test func aStoreThatMayNotBeWrittenCostsATransferAndNoLoad() async throws {
        let path = Reader.path()
        let writer = try Reader()
        let session = URLSession.cameo(try Client(reading: writer.bench.path), readThrough: ReadThrough())
        try await writer.origin.script(path, .fresh())
        let (data, response) = try await session.data(from: try writer.url(path))
        let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
        #expect(data == Data("picture".utf8))
        #expect(status?.hasPrefix("Cameo; fwd=uri-miss; detail=\"") == true, "\(status ?? "")")
        #expect(status?.contains("stored") == false || status?.contains("read-only") == true)
    }

    /// swift-corelibs-foundation#5465: it looks for a file that only its own protocols make.
    @Test func aDownloadTaskFailsInsteadOfTheProcess() async throws {
        let reader = try Reader()
        let stored = try await reader.client.store(Workbench.picture(1))
        for url in [stored.url, try reader.url("/bytes")] {
            await #expect(throws: CameoURLError.downloadTask(url.absoluteString)) {
                try await reader.session.download(from: url)
            }
        }
    }
}
