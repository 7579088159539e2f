import CameoFetch
import CameoModel
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(.origin, .timeLimit(.minutes(10)))
struct HTTPRedirectTests {
    private let origin = Origin.ofSuite
    private let fetcher: Fetcher

    init() throws { fetcher = try Fetcher(.forTests) }

    @Test(arguments: [301, 302, 303, 307, 308])
    func redirectsAreFollowed(status: Int) async throws {
        for target in ["/bytes", origin.url("/bytes"), "bytes?count=1000", "//127.0.0.1:\(origin.port)/bytes#part"] {
            #expect(try await fetcher.fetch(origin.redirect(to: target, status: status)).bytes == 1_000)
        }
    }

    @Test
    func asManyRedirectsAsAllowedAreFollowedAndNoMore() async throws {
        let two = try origin.redirect(to: origin.redirect(to: "/bytes"))
        let generous = try Fetcher(FetchConfiguration.forTests.with(\.maximumRedirects, 2))
        #expect(try await generous.fetch(two).bytes == 1_000)
        let strict = try Fetcher(FetchConfiguration.forTests.with(\.maximumRedirects, 1))
        try await expect(.sourceForbidden, of: two, by: strict, saying: "more than the allowed once")
    }

    @Test
    func aLoopEnds() async throws {
        let origin = try await Origin.start()
        try await expect(.sourceForbidden, of: origin.url("/loop"), by: fetcher, saying: "5 times", "/loop")
        #expect(try await origin.counts().requests["/loop"] == 6)
    }

    @Test(arguments: [
        "ftp://127.0.0.1/a.png", "file:///etc/passwd", "gopher://127.0.0.1/x", "data:image/png;base64,AAAA",
        "javascript:x()",
    ])
    func aRedirectToAnotherSchemeIsRefused(target: String) async throws {
        try await expect(.sourceForbidden, of: origin.redirect(to: target), by: fetcher, saying: target)
    }

    @Test
    func aRedirectWithoutTargetIsAFailure() async throws {
        let failure = try await failure(of: origin.url("/redirect"), with: fetcher)
        #expect(failure.code == .sourceHTTPStatus)
        #expect(failure.message == "GET \(origin.url("/redirect")) answered 302 Found")
    }

    @Test
    func aFailureNamesBothEndsOfARedirect() async throws {
        let start = try origin.redirect(to: "/status/503")
        let failure = try await failure(of: start, with: fetcher)
        #expect(
            failure.message
                == "GET \(origin.url("/status/503")) (to which \(start) redirects) answered 503 Service Unavailable"
        )
    }

    @Test
    func headersAndPasswordStayWithTheirOrigin() async throws {
        let headers = ["X-Token": "secret", "Authorization": "Bearer secret", "Cookie": "a=secret"]
        let same = try await echo(origin.redirect(to: "/headers", host: "u:p@127.0.0.1"), ["X-Token": "secret"])
        #expect(same.contains("secret"))
        #expect(same.contains("Basic"))

        let otherHost = origin.url("/headers", host: "localhost")
        #expect(!(try await echo(origin.redirect(to: otherHost), headers)).contains("secret"))
        #expect(!(try await echo(origin.redirect(to: otherHost, host: "user:secret@127.0.0.1"), [:])).contains("Basic"))

        let otherPort = try await Origin.start()
        #expect(!(try await echo(origin.redirect(to: otherPort.url("/headers")), headers)).contains("secret"))
    }

    @Test
    func whatSaysNothingOfTheRequesterGoesAlong() async throws {
        let elsewhere = try origin.redirect(to: origin.url("/headers", host: "localhost"))
        let headers = ["Accept": "image/webp", "Accept-Language": "de", "X-Token": "secret"]
        let echo = try await echo(elsewhere, headers)
        #expect(echo.contains("image/webp") && echo.contains("\"de\"") && !echo.contains("secret"))
    }

    @Test
    func headersDoNotComeBackAfterAVisitElsewhere() async throws {
        let back = try origin.redirect(to: origin.url("/headers"), host: "localhost")
        #expect(!(try await echo(origin.redirect(to: back), ["X-Token": "secret"])).contains("secret"))
    }

    @Test
    func credentialsInATargetAreNeitherUsedNorShown() async throws {
        let target = origin.url("/headers", host: "user:hunter2@localhost")
        #expect(!(try await echo(origin.redirect(to: target), [:])).contains("Basic"))
        let failure = try await failure(
            of: origin.redirect(to: origin.url("/status/500", host: "user:hunter2@localhost")),
            with: fetcher
        )
        #expect(failure.message.hasPrefix("GET \(origin.url("/status/500", host: "localhost")) ("))
    }

    @Test
    func credentialsInATargetOnTheSameOriginAreUsed() async throws {
        let expected = "Basic " + Data("user:a@b".utf8).base64EncodedString()
        for user in ["user:a%40b", "user:a@b"] {
            let url = try origin.redirect(to: "//\(user)@127.0.0.1:\(origin.port)/headers")
            #expect(try await echo(url, ["Authorization": "Bearer x"]).contains(expected), "\(user)")
        }
    }

    @Test
    func droppedCredentialsAreTold() async throws {
        let told = Mutex<[String]>([])
        var configuration = FetchConfiguration.forTests
        configuration.noteDroppedCredentials = { target in told.withLock { $0.append(target) } }
        let fetcher = try Fetcher(configuration)
        _ = try await fetcher.fetch(origin.redirect(to: origin.url("/headers", host: "user:secret@localhost")))
        _ = try await fetcher.fetch(origin.redirect(to: origin.url("/headers", host: "user:secret@127.0.0.1")))
        #expect(told.withLock(\.self) == [origin.url("/headers", host: "localhost")])
        let target = origin.url("/status/401", host: "u:p@localhost")
        let refused = try await failure(of: origin.redirect(to: target), with: fetcher)
        #expect(refused.message.contains("credentials in the redirect were not sent"))
    }

    // MARK: - Cookies

    private func cookies(of path: String) async throws -> [String?] {
        try await origin.requests(of: path).map { $0["cookie"] }
    }

    @Test
    func aCookieThatARedirectSetsEndsItsLoop() async throws {
        let path = "/scripted/cookie-loop"
        let set = ["Location: \(path)", "Set-Cookie: seen=1; Path=/", "Set-Cookie: b=2; HttpOnly; Max-Age=60"]
        try await origin.script(path, ScriptedAnswer(302, set), ScriptedAnswer(body: "a picture"))
        #expect(try await fetcher.fetch(origin.url(path), headers: ["Cookie": "own=0"]).bytes == 9)
        let sent = try await cookies(of: path)
        #expect(sent[0] == "own=0")
        #expect(Set((sent[1] ?? "").components(separatedBy: "; ")) == ["own=0", "seen=1", "b=2"])
    }

    @Test
    func cookiesLiveForOneChainOfRedirects() async throws {
        let (first, second) = ("/scripted/cookie-first", "/scripted/cookie-second")
        let answer = ScriptedAnswer(302, ["Location: \(second)", "Set-Cookie: a=1; Path=/"])
        try await origin.script(first, answer)
        try await origin.script(second, ScriptedAnswer(body: "a picture"))
        for _ in 0..<2 { _ = try await fetcher.fetch(origin.url(first)) }
        _ = try await fetcher.fetch(origin.url(second))
        #expect(try await cookies(of: first) == [nil, nil])
        #expect(try await cookies(of: second) == ["a=1", "a=1", nil])
    }

    @Test(arguments: [
        ("a=1; Path=/elsewhere", "127.0.0.1"), ("a=1; Domain=example.com", "127.0.0.1"),
        ("a=1; Max-Age=0", "127.0.0.1"), ("a=1; Path=/", "localhost"), ("__Host-a=1; Path=/", "127.0.0.1"),
    ])
    func aCookieForAnotherPlaceIsNotSent(cookie: String, host: String) async throws {
        let origin = try await Origin.start()
        let target = origin.url("/scripted/target", host: host)
        try await origin.script("/scripted/set", ScriptedAnswer(302, ["Location: \(target)", "Set-Cookie: \(cookie)"]))
        try await origin.script("/scripted/target", ScriptedAnswer(body: "a picture"))
        _ = try await fetcher.fetch(origin.url("/scripted/set"))
        #expect(try await origin.requests(of: "/scripted/target").map { $0["cookie"] } == [nil])
    }

    private func echo(_ url: String, _ headers: [String: String]) async throws -> String {
        String(decoding: try await fetcher.fetch(url, headers: headers).contents(), as: UTF8.self)
    }
}
