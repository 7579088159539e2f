import Cameo
import Foundation
import FoundationNetworking
import TestSupport
import Testing

/// What one may see never answers another.
@Suite(.timeLimit(.minutes(10)), .origin)
struct CredentialTests {
    private func source(_ url: URL) throws -> URL {
        let encoded = url.absoluteString.utf8.map { "%" + String($0, radix: 16) }.joined()
        return try #require(URL(string: "cameo://source/\(encoded)"))
    }

    @Test(arguments: [
        ["Authorization": "Bearer one"], ["Cookie": "session=1"], ["X-Api-Key": "1"], ["Unknown-Header": "1"],
    ])
    func credentialsHaveACacheOfTheirOwn(headers: [String: String]) async throws {
        let (reader, path) = try await Reader.scripted(.fresh("theirs"), .fresh("everybody's"), ScriptedAnswer(500))
        let name = try #require(headers.keys.first)
        #expect(try await reader.get(path, headers).text == "theirs")
        await #expect(throws: CameoURLError.self) { try await reader.get(try source(try reader.url(path))) }
        #expect(try await reader.get(path).text == "everybody's")
        #expect(try await reader.get(path, headers).text == "theirs")
        #expect(try await reader.get(path).text == "everybody's")
        #expect(try await reader.get(path, [name: "another"]).status == 500)
        #expect(try await reader.get(try source(try reader.url(path))).text == "everybody's")
        #expect(try await reader.count(path) == 3)
    }

    @Test(arguments: [
        ["Accept": "image/webp"], ["User-Agent": "test"], ["DNT": "1"], ["Referer": "http://a/"],
        ["Accept-Language": "de"],
    ])
    func whatSaysNothingOfTheRequesterIsNoCredential(headers: [String: String]) async throws {
        let (reader, path) = try await Reader.scripted(.fresh())
        _ = try await reader.get(path, headers)
        #expect(try await reader.get(path).cacheStatus.hasPrefix("Cameo; hit"))
    }

    @Test func aUserInTheURLIsSentAndCounts() async throws {
        let (reader, path) = try await Reader.scripted(.fresh("ada's"), .fresh("bob's"))
        let ada = try reader.url(path, host: "ada:pass%20word@127.0.0.1")
        #expect(try await reader.get(ada).text == "ada's")
        #expect(try await reader.get(try reader.url(path, host: "bob:word@127.0.0.1")).text == "bob's")
        #expect(try await reader.get(ada).text == "ada's")
        let sent = try await reader.origin.requests(of: path).map { $0["authorization"] }
        #expect(sent == ["ada:pass word", "bob:word"].map { "Basic \(Data($0.utf8).base64EncodedString())" })
        let database = try Data(contentsOf: URL(filePath: "\(reader.client.path)/cameo.sqlite-wal"))
        for secret in ["pass%20word", "pass word"] { #expect(database.range(of: Data(secret.utf8)) == nil) }
    }

    @Test func headersOfTheConfigurationAreSentAndCount() async throws {
        let (base, path) = (URLSessionConfiguration.ephemeral, Reader.path())
        base.httpAdditionalHeaders = ["Authorization": "Bearer configured", "Accept": "image/png"]
        let reader = try Reader(basedOn: base)
        try await reader.origin.script(path, .fresh("theirs"))
        #expect(try await reader.get(path).text == "theirs")
        #expect(try await reader.origin.requests(of: path)[0]["authorization"] == "Bearer configured")
        await #expect(throws: CameoURLError.self) { try await reader.get(try source(try reader.url(path))) }
        #expect(
            try await reader.get(path, ["Authorization": "Bearer other"]).cacheStatus == "Cameo; fwd=uri-miss; stored"
        )
    }

    @Test func cookiesAreStoredAndSentAndCount() async throws {
        let (base, path) = (URLSessionConfiguration.ephemeral, Reader.path())
        let reader = try Reader(basedOn: base)
        try await reader.origin.script(path, .fresh("before", ["Set-Cookie: session=1; Path=/"]), .fresh("after"))
        #expect(try await reader.get(path)["Set-Cookie"] != nil)
        let second = try await reader.get(path)
        #expect(second.text == "after")
        #expect(try await reader.origin.requests(of: path)[1]["cookie"] == "session=1")
        #expect(try await reader.get(path).text == "after")
        // The cookie was for one, and is not kept with the answer.
        let other = URLSession(configuration: .cameo(reader.client, readThrough: ReadThrough(), basedOn: .ephemeral))
        let (kept, response) = try await other.data(from: try reader.url(path))
        #expect(kept == Data("before".utf8))
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Set-Cookie") == nil)
    }

    @Test(arguments: [HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain, .never])
    func cookiesOfARedirectAreSentAlongItsChain(policy: HTTPCookie.AcceptPolicy) async throws {
        let (base, path, end) = (URLSessionConfiguration.ephemeral, Reader.path(), Reader.path("end"))
        base.httpCookieAcceptPolicy = policy
        let reader = try Reader(basedOn: base)
        let location = "Location: \(reader.origin.url(end))"
        try await reader.origin.script(
            path,
            ScriptedAnswer(302, ["Location: \(path)", "Set-Cookie: seen=1; Path=/scripted"]),
            ScriptedAnswer(302, [location, "Set-Cookie: other=2; Path=/elsewhere"])
        )
        try await reader.origin.script(end, .fresh())
        #expect(try await reader.get(path, ["Cookie": "own=0"]).text == "picture")
        let sent = try await reader.origin.requests(of: path).map { $0["cookie"] }
        #expect(sent == ["own=0", policy == .never ? "own=0" : "own=0; seen=1"])
        #expect(try await reader.origin.requests(of: end).map { $0["cookie"] } == [sent[1]])
    }

    @Test func answersToCredentialsNeedNotBeKept() async throws {
        let (reader, path) = try await Reader.scripted(.fresh("theirs"), rules: ReadThrough(credentials: .notKept))
        for _ in 0..<2 {
            #expect(try await reader.get(path, ["Authorization": "1"]).cacheStatus == "Cameo; fwd=bypass")
        }
    }

    @Test func aRedirectIsFollowedAndKeptUnderWhatWasAskedFor() async throws {
        let (reader, path, end) = (try Reader(), Reader.path("start"), Reader.path("end"))
        let target = end + "?x=1"
        try await reader.origin.script(
            path,
            ScriptedAnswer(301, ["Cache-Control: max-age=600", "Location: \(target)"])
        )
        try await reader.origin.script(end, .fresh())
        for _ in 0..<2 {
            let loaded = try await reader.get(path)
            #expect(loaded.text == "picture")
            #expect(loaded.response.url == (try reader.url(target)))
        }
        for hop in [path, end] { #expect(try await reader.count(hop) == 1) }
    }

    /// They are used in the redirect's own origin, and what they open is not kept for others.
    @Test(arguments: [("127.0.0.1", true), ("localhost", false)])
    func credentialsInARedirect(host: String, areUsed: Bool) async throws {
        let (reader, path, end) = (try Reader(), Reader.path("start"), Reader.path("end"))
        let location = reader.origin.url(end, host: "ada:word@\(host)")
        try await reader.origin.script(path, ScriptedAnswer(302, ["Location: \(location)"]))
        try await reader.origin.script(end, .fresh())
        let loaded = try await reader.get(path)
        #expect(loaded.response.url == (try reader.url(end, host: host)))
        #expect(loaded.cacheStatus.hasSuffix("stored") != areUsed)
        let expected = areUsed ? "Basic \(Data("ada:word".utf8).base64EncodedString())" : nil
        #expect(try await reader.origin.requests(of: end)[0]["authorization"] == expected)
    }

    @Test func aRedirectIsSpelledAsByBrowsers() async throws {
        let reader = try Reader()
        let to = "..\\echo\\a b?'c d'".addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        let loaded = try await reader.get("/redirect/?to=\(try #require(to))")
        #expect(loaded.text == "/echo/a%20b?%27c%20d%27")
    }

    @Test(arguments: [
        (401, "Basic realm=\"a\""), (401, "Digest realm=\"a\", nonce=\"b\""), (401, "Negotiate"),
        (401, "Negotiate, basic realm=a"), (401, ""), (407, "Basic realm=\"a\""),
    ])
    func aChallengeIsHandedOver(status: Int, challenge: String) async throws {
        let (reader, path) = (try Reader(), Reader.path())
        let name = status == 407 ? "Proxy-Authenticate" : "WWW-Authenticate"
        try await reader.origin.script(path, ScriptedAnswer(status, ["\(name): \(challenge)"], body: "who are you?"))
        let loaded = try await reader.get(path)
        #expect(loaded.status == status && loaded.text == "who are you?")
        // A proxy's is for one connection, and not passed on.
        #expect(loaded[name]?.trimmingCharacters(in: .whitespaces) == (status == 401 ? challenge : nil))
    }

    /// A session's delegate is not asked: the protocol hands the answer over.
    @Test(arguments: [
        URLSession.AuthChallengeDisposition.useCredential, .performDefaultHandling, .rejectProtectionSpace,
    ])
    func aDelegateThatHasCredentialsGetsTheAnswer(disposition: URLSession.AuthChallengeDisposition) async throws {
        final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
            let disposition: URLSession.AuthChallengeDisposition

            init(_ disposition: URLSession.AuthChallengeDisposition) { self.disposition = disposition }

            func urlSession(
                _: URLSession,
                task _: URLSessionTask,
                didReceive _: URLAuthenticationChallenge,
                completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                completionHandler(disposition, URLCredential(user: "ada", password: "word", persistence: .none))
            }
        }
        let (reader, path) = (try Reader(), Reader.path())
        let challenge = "WWW-Authenticate: Basic realm=\"a\""
        try await reader.origin.script(path, ScriptedAnswer(401, [challenge], body: "who?"))
        let session = URLSession(
            configuration: .cameo(reader.client, readThrough: ReadThrough(), basedOn: .ephemeral),
            delegate: Delegate(disposition),
            delegateQueue: nil
        )
        let (data, response) = try await session.data(from: try reader.url(path))
        #expect(data == Data("who?".utf8) && (response as? HTTPURLResponse)?.statusCode == 401)
    }

    /// Another host of the same server: `localhost` is not `127.0.0.1`.
    @Test func credentialsDoNotFollowARedirectToAnotherOrigin() async throws {
        let (reader, path) = (try Reader(), Reader.path("start"))
        let (away, back) = (Reader.path("away"), Reader.path("back"))
        try await reader.origin.script(
            path,
            ScriptedAnswer(302, ["Location: \(reader.origin.url(away, host: "localhost"))"])
        )
        try await reader.origin.script(away, ScriptedAnswer(302, ["Location: \(reader.origin.url(back))"]))
        try await reader.origin.script(back, .fresh())
        let secret = ["Authorization": "Bearer one", "Cookie": "a=1", "X-Api-Key": "1", "Accept": "image/webp"]
        #expect(try await reader.get(path, secret).text == "picture")
        #expect(try await reader.origin.requests(of: path)[0]["authorization"] == "Bearer one")
        for other in [away, back] {
            let seen = try await reader.origin.requests(of: other)[0]
            #expect(seen["authorization"] == nil && seen["cookie"] == nil && seen["x-api-key"] == nil)
            #expect(seen["accept"] == "image/webp")
        }
    }

    @Test func redirectsWithoutEndAndToOtherSchemesFail() async throws {
        let reader = try Reader()
        let endless = await #expect(throws: URLError.self) { try await reader.get("/loop") }
        #expect(endless?.code == .httpTooManyRedirects)
        for place in ["file:///etc/passwd", "data:,x", "cameo://thumb/1"] {
            let path = Reader.path()
            try await reader.origin.script(path, ScriptedAnswer(302, ["Location: \(place)"]))
            let error = await #expect(throws: URLError.self) { try await reader.get(path) }
            #expect(error?.code == .unsupportedURL)
        }
    }

    @Test(arguments: [(20, nil), (21, URLError.Code.httpTooManyRedirects)])
    func twentyRedirectsAreFollowedAndNoMore(count: Int, failure: URLError.Code?) async throws {
        let reader = try Reader()
        let paths = (0...count).map { Reader.path("hop\($0)") }
        for (path, next) in zip(paths, paths.dropFirst()) {
            try await reader.origin.script(path, ScriptedAnswer(302, ["Location: \(next)"]))
        }
        try await reader.origin.script(paths[count], .fresh())
        do {
            #expect(try await reader.get(paths[0]).text == "picture")
            #expect(failure == nil)
        } catch let error as URLError {
            #expect(error.code == failure)
        }
        #expect(try await reader.count(paths[count]) == (failure == nil ? 1 : 0))
    }

    @Test func aValueOfTwoLinesIsRefusedAndNeverSent() async throws {
        let base = URLSessionConfiguration.ephemeral
        base.httpAdditionalHeaders = ["X-A": "1\r\nX-Injected: 1"]
        let (reader, path) = try await Reader.scripted(.fresh(), basedOn: base)
        let error = await #expect(throws: URLError.self) { try await reader.get(path) }
        #expect(error?.code == .badURL)
        #expect(try await reader.count(path) == 0)
    }

    @Test func noURLAndNoValueWritesAHeaderOfItsOwn() async throws {
        let reader = try Reader()
        for text in ["/headers?a=%0D%0AX-Injected:%201", "/headers?a=\r\nX-Injected: 1", "/headers#\r\nX-Injected: 1"] {
            let loaded = try await reader.get(try #require(URL(string: reader.origin.url("") + text)))
            #expect(loaded.status == 200 && !loaded.text.lowercased().contains("x-injected"))
        }
        // Foundation leaves such values out by itself, or Cameo refuses the request.
        for headers in [["X-A": "1\r\nX-Injected: 1"], ["X-A\r\nX-Injected": "1"]] {
            let loaded = try? await reader.get("/headers", headers)
            #expect(loaded?.text.lowercased().contains("x-injected") != true)
        }
        // From a server: a `Location`, and a tag that is sent back.
        let path = Reader.path()
        try await reader.origin.script(path, ScriptedAnswer(302, ["Location: /headers?b=%0d%0aX-Injected:1"]))
        let loaded = try await reader.get(path)
        #expect(!loaded.text.lowercased().contains("x-injected"))
    }

    @Test func everySpellingOfAURLIsLoaded() async throws {
        let (reader, path) = try await Reader.scripted(.fresh())
        let upper = try #require(URL(string: "HTTP://LOCALHOST:\(reader.origin.port)\(path)#part"))
        #expect(try await reader.get(upper).text == "picture")
        #expect(try await reader.get(upper).cacheStatus.hasPrefix("Cameo; hit"))
        let name = try #require(URL(string: "http://bücher.invalid/ä"))
        let error = await #expect(throws: URLError.self) { try await reader.get(name) }
        #expect(error?.code == .cannotFindHost)
    }
}
