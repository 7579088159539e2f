import Cameo
import Foundation
import FoundationNetworking
import TestSupport
import Testing

/// `http:` URLs through the store, against a real server: what is kept, when it is served, and what the server is asked.
@Suite(.timeLimit(.minutes(10)), .origin)
struct ReadThroughTests {
    @Test func aFreshAnswerIsLoadedOnce() async throws {
        let (reader, path) = try await Reader.scripted(.fresh())
        let first = try await reader.get(path)
        #expect(first.text == "picture" && first.status == 200)
        #expect(first.cacheStatus == "Cameo; fwd=uri-miss; stored")
        let second = try await reader.get(path)
        #expect(second.text == "picture" && second.status == 200)
        let ttl = try #require(second.cacheStatus.firstMatch(of: #/ttl=(\d+)/#).flatMap { Int($0.1) })
        #expect(second.cacheStatus == "Cameo; hit; ttl=\(ttl); detail=memory" && (1...600).contains(ttl))
        #expect(second["Age"] != nil && second["ETag"] == "\"one\"" && second.response.mimeType == "image/png")
        #expect(second.response.expectedContentLength == 7)
        #expect(second.response.url == (try reader.url(path)))
        #expect(try await reader.count(path) == 1)
    }

    @Test func whatIsKeptServesLaterSessionsAndNamesASource() async throws {
        let (reader, path) = (try Reader(), Reader.path())
        let fields = ["Cache-Control: max-age=600", "Content-Type: Text/Plain; charset=ISO-8859-1"]
        try await reader.origin.script(path, ScriptedAnswer(200, fields, body: "text"))
        _ = try await reader.get(path)
        let other = URLSession.cameo(try Client(store: reader.bench.path), readThrough: ReadThrough())
        let (data, response) = try await other.data(from: try reader.url(path))
        #expect(data == Data("text".utf8))
        let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status")
        #expect(status?.wholeMatch(of: #/Cameo; hit; ttl=\d+/#) != nil, "from its own memory, which has nothing yet")
        #expect(try await reader.count(path) == 1)
        let source = try #require(CameoURI("cameo://source/" + Self.encoded(try reader.url(path).absoluteString)))
        let kept = try await reader.get(source.url)
        #expect(kept.text == "text" && kept.response.mimeType == "text/plain")
        #expect(kept.response.textEncodingName == "iso-8859-1")
        let seconds = try #require(kept["Cache-Control"]?.split(separator: "=").last.flatMap { Int($0) })
        #expect((1...600).contains(seconds))
        #expect(try await reader.client.data(for: source) == Data("text".utf8))
    }

    @Test func aStaleAnswerIsValidated() async throws {
        let (reader, path) = (try Reader(), Reader.path())
        let renewed = ["Cache-Control: max-age=600", "ETag: \"one\"", "X-Seen: second"]
        try await reader.origin.script(path, .stale("picture"), ScriptedAnswer(304, renewed), ScriptedAnswer(500))
        #expect(try await reader.get(path).text == "picture")
        let second = try await reader.get(path)
        #expect(second.text == "picture" && second.status == 200 && second["X-Seen"] == "second")
        #expect(second.cacheStatus == "Cameo; fwd=stale; fwd-status=304; stored")
        #expect(try await reader.origin.requests(of: path)[1]["if-none-match"] == "\"one\"")
        // What the 304 said is kept too: a third request asks nobody.
        let third = try await reader.get(path)
        #expect(third.text == "picture" && third["X-Seen"] == "second" && third.response.mimeType == "image/png")
        #expect(try await reader.count(path) == 2)
    }

    /// A tag says something to the server alone that gave it.
    @Test func aStaleAnswerIsValidatedWhereItCameFromAndNowhereOnTheWay() async throws {
        let (reader, path, end) = (try Reader(), Reader.path("start"), Reader.path("end"))
        let location = ["Cache-Control: max-age=600", "Location: \(end)"]
        try await reader.origin.script(path, ScriptedAnswer(301, location))
        try await reader.origin.script(end, .stale("picture"), ScriptedAnswer(304, ScriptedAnswer.staleFields))
        for _ in 0..<2 { #expect(try await reader.get(path).text == "picture") }
        #expect(try await reader.origin.requests(of: path).map { $0["if-none-match"] } == [nil, nil])
        #expect(try await reader.origin.requests(of: end).map { $0["if-none-match"] } == [nil, "\"one\""])
    }

    @Test func aNotModifiedAboutOtherBytesIsNoAnswer() async throws {
        let (reader, path) = try await Reader.scripted(
            .stale("old"),
            ScriptedAnswer(304, ["ETag: \"two\""]),
            .fresh("new")
        )
        for expected in ["old", "new", "new"] { #expect(try await reader.get(path).text == expected) }
        #expect(try await reader.origin.requests(of: path).map { $0["if-none-match"] } == [nil, "\"one\"", nil])
    }

    @Test func aNotModifiedThatForbidsKeepingTakesTheAnswerAway() async throws {
        let (reader, path) = try await Reader.scripted(
            .stale("picture"),
            ScriptedAnswer(304, ["Cache-Control: no-store", "ETag: \"one\""])
        )
        _ = try await reader.get(path)
        let last = try await reader.get(path)
        #expect(last.text == "picture" && last.cacheStatus == "Cameo; fwd=stale; fwd-status=304")
        await #expect(throws: URLError.self) { try await reader.get(path, [:], .returnCacheDataDontLoad) }
    }

    @Test(arguments: [
        ("Cache-Control: no-store", 200), ("Cache-Control: private, max-age=600", 200), ("Vary: *", 200),
        ("Cache-Control: max-age=600", 206), ("Cache-Control: max-age=600", 404), ("Cache-Control: no-store", 500),
    ])
    func whatMayNotBeKeptIsLoadedEachTime(field: String, status: Int) async throws {
        let (reader, path) = try await Reader.scripted(
            ScriptedAnswer(status, [field, "Content-Type: image/png"], body: "body")
        )
        for _ in 0..<2 {
            let loaded = try await reader.get(path)
            #expect(loaded.text == "body" && loaded.status == status)
            #expect(loaded.cacheStatus == "Cameo; fwd=uri-miss")
        }
        #expect(try await reader.count(path) == 2)
    }

    @Test func eachVariantIsForItsOwnRequests() async throws {
        let (reader, path) = (try Reader(), Reader.path())
        let fields = ScriptedAnswer.freshFields + ["Vary: Accept-Language"]
        try await reader.origin.script(
            path,
            ScriptedAnswer(200, fields, body: "eins"),
            ScriptedAnswer(200, fields, body: "one"),
            ScriptedAnswer(500)
        )
        #expect(try await reader.get(path, ["Accept-Language": "de"]).text == "eins")
        let other = try await reader.get(path, ["Accept-Language": "en"])
        #expect(other.text == "one" && other.cacheStatus == "Cameo; fwd=vary-miss; stored")
        #expect(try await reader.get(path, ["Accept-Language": "de"]).text == "eins")
        #expect(try await reader.get(path, ["Accept-Language": "en"]).text == "one")
        #expect(try await reader.count(path) == 2)
    }

    @Test func whatARequestSaysOfCachingCounts() async throws {
        let (reader, path) = (try Reader(), Reader.path())
        let absent = try await reader.get(path, ["Cache-Control": "only-if-cached"])
        #expect(absent.status == 504 && absent.cacheStatus == "Cameo; detail=\"nothing fresh is kept\"")
        try await reader.origin.script(path, .fresh())
        #expect(try await reader.get(path, ["Cache-Control": "no-store"]).cacheStatus == "Cameo; fwd=uri-miss")
        #expect(try await reader.get(path).cacheStatus == "Cameo; fwd=uri-miss; stored")
        #expect(try await reader.get(path, ["Cache-Control": "no-cache"]).cacheStatus.contains("fwd=stale"))
        #expect(try await reader.get(path, ["Cache-Control": "only-if-cached"]).text == "picture")
        #expect(try await reader.count(path) == 3)
    }

    @Test func thePolicyOfARequestCounts() async throws {
        let (reader, path) = (try Reader(), Reader.path())
        let error = await #expect(throws: URLError.self) { try await reader.get(path, [:], .returnCacheDataDontLoad) }
        #expect(error?.code == .resourceUnavailable)
        try await reader.origin.script(path, .stale("picture"))
        #expect(try await reader.get(path, [:], .returnCacheDataElseLoad).cacheStatus == "Cameo; fwd=uri-miss; stored")
        for policy in [URLRequest.CachePolicy.returnCacheDataElseLoad, .returnCacheDataDontLoad] {
            let stale = try await reader.get(path, [:], policy)
            #expect(stale.text == "picture" && stale.cacheStatus.hasPrefix("Cameo; hit; ttl=-"))
        }
        #expect(try await reader.count(path) == 1)
        let fresh = Reader.path()
        try await reader.origin.script(fresh, .fresh())
        for _ in 0..<2 {
            let loaded = try await reader.get(fresh, [:], .reloadIgnoringLocalCacheData)
            #expect(loaded.cacheStatus == "Cameo; fwd=request; stored")
        }
        #expect(try await reader.count(fresh) == 2)
        #expect(try await reader.get(fresh).cacheStatus.hasPrefix("Cameo; hit"))
    }

    @Test func rangesAndHeadersComeOutOfWhatIsKept() async throws {
        let (reader, path) = try await Reader.scripted(.fresh("0123456789"))
        _ = try await reader.get(path)
        let part = try await reader.get(path, ["Range": "bytes=2-4"])
        #expect(part.status == 206 && part.text == "234" && part["Content-Range"] == "bytes 2-4/10")
        #expect(try await reader.get(path, ["Range": "bytes=2-4", "If-Range": "\"two\""]).status == 200)
        #expect(try await reader.get(path, ["Range": "bytes=20-"]).status == 416)
        let head = try await reader.get(path, method: "HEAD")
        #expect(head.data.isEmpty && head["Content-Length"] == "10" && head.cacheStatus.hasPrefix("Cameo; hit"))
        let same = try await reader.get(path, ["If-None-Match": "W/\"one\""])
        #expect(same.status == 304 && same.data.isEmpty && same["ETag"] == "\"one\"")
        #expect(try await reader.count(path) == 1)
    }

    @Test func aRangeOfWhatIsNotKeptIsHandedOnAndNotKept() async throws {
        let (reader, path) = (try Reader(), Reader.path())
        let fields = ScriptedAnswer.freshFields + ["Content-Range: bytes 2-4/10"]
        try await reader.origin.script(path, ScriptedAnswer(206, fields, body: "234"), .fresh("0123456789"))
        let part = try await reader.get(path, ["Range": "bytes=2-4"])
        #expect(part.status == 206 && part.text == "234" && part.cacheStatus == "Cameo; fwd=partial")
        #expect(try await reader.origin.requests(of: path)[0]["range"] == "bytes=2-4")
        #expect(try await reader.get(path).text == "0123456789")
    }

    @Test func conditionsOfARequestAreHeldAgainstTheWholeAnswer() async throws {
        let (reader, path) = try await Reader.scripted(.fresh())
        let same = try await reader.get(path, ["If-None-Match": "\"one\""])
        #expect(same.status == 304 && same.cacheStatus == "Cameo; fwd=uri-miss; stored")
        #expect(try await reader.origin.requests(of: path)[0]["if-none-match"] == nil)
        #expect(try await reader.get(path).text == "picture")
        #expect(try await reader.count(path) == 1)
    }

    @Test func aLargeAnswerIsHandedOnAndNotKept() async throws {
        let (reader, path) = try await Reader.scripted(.fresh(), rules: ReadThrough(maximumBytes: 6))
        for _ in 0..<2 {
            let loaded = try await reader.get(path)
            #expect(loaded.text == "picture")
            #expect(loaded.cacheStatus == "Cameo; fwd=uri-miss; detail=\"7 bytes are more than 6\"")
        }
    }

    @Test func bytesThatWereCompressedOnTheWayAreKeptAsTheyAre() async throws {
        let reader = try Reader(ReadThrough(defaultLifetime: .seconds(60)))
        let expected = String(repeating: "picture", count: 1_000)
        for status in ["fwd=uri-miss", "hit"] {
            let loaded = try await reader.get("/gzip")
            #expect(loaded.text == expected && loaded.cacheStatus.contains(status))
            #expect(loaded["Content-Encoding"] == nil && loaded.response.expectedContentLength == 7_000)
        }
    }

    @Test func whatNeitherReadsNorChangesAPictureIsLeftToTheSession() throws {
        let reader = try Reader()
        let type = try #require(reader.session.configuration.protocolClasses?.first as? CameoURLProtocol.Type)
        var request = URLRequest(url: try reader.url("/"))
        #expect(type.canInit(with: request))
        // Without a body in the request, it may be an upload task's, whose body a protocol is not shown.
        for (method, body, isRead) in [
            ("HEAD", nil, true), ("GET", "body", false), ("OPTIONS", nil, false), ("OPTIONS", "body", false),
            ("POST", "body", true), ("PUT", "body", true), ("PATCH", "body", true), ("DELETE", "body", true),
            ("DELETE", nil, true), ("POST", nil, false), ("PUT", nil, false),
        ] as [(String, String?, Bool)] {
            request.httpMethod = method
            request.httpBody = body.map { Data($0.utf8) }
            #expect(type.canInit(with: request) == isRead, "\(method)")
        }
        #expect(!type.canInit(with: URLRequest(url: try #require(URL(string: "ftp://127.0.0.1/")))))
        #expect(type.canInit(with: URLRequest(url: try #require(URL(string: "HTTP://127.0.0.1/")))))
        let plain = try #require(
            URLSessionConfiguration.cameo(reader.client).protocolClasses?.first as? CameoURLProtocol.Type
        )
        #expect(!plain.canInit(with: URLRequest(url: try reader.url("/"))))
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
