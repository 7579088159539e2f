import CameoHTTPCache
import Foundation
import Testing

@Suite("Where redirects lead, and what goes there", .timeLimit(.minutes(10)))
struct RouteTests {
    private static let secret = ["Authorization: Bearer 1", "Cookie: a=1", "X-Api-Key: 1", "Unknown: 1"]

    private func route(_ method: String = "GET", atMost maximum: Int = 20) throws -> RedirectRoute<URL> {
        let url = try #require(URL(string: "https://example.com/a/b"))
        let own = fields(Self.secret + ["Accept: image/webp", "Content-Type: text/plain"])
        return RedirectRoute(method, to: url, own, maximumRedirects: maximum)
    }

    private func redirect(_ location: String, status: Int = 302) -> CacheableResponse {
        answer("Location: \(location)", status: status)
    }

    @Test(arguments: [
        ("c", "https://example.com/a/c"), ("/c#part", "https://example.com/c"),
        ("//example.com:443/c", "https://example.com:443/c"), ("HTTPS://EXAMPLE.com/", "https://EXAMPLE.com/"),
        ("https://user:password@example.com/", "https://example.com/"),
    ])
    func fieldsStayWithTheirOrigin(location: String, place: String) throws {
        var route = try route()
        try route.follow(redirect(location))
        #expect(route.place.absoluteString == place)
        // The redirect's own take precedence.
        let authorization = location.contains("@") ? "Basic dXNlcjpwYXNzd29yZA==" : "Bearer 1"
        #expect(route.stop.fields["Cookie"] == "a=1" && route.stop.fields["Authorization"] == authorization)
    }

    @Test(arguments: ["http://example.com/", "https://example.com:8443/", "https://www.example.com/", "//example.org"])
    func whatMayBeACredentialStaysBehindAndDoesNotComeBack(location: String) throws {
        var route = try route()
        try route.follow(redirect(location))
        #expect(route.stop.fields == fields(["Accept: image/webp"]))
        try route.follow(redirect("https://example.com/a/b"))
        #expect(route.stop.fields == fields(["Accept: image/webp"]))
        #expect(route.redirects.count == 2 && route.stops.count == 3)
    }

    @Test(arguments: [0, 1, 3])
    func asManyAsAllowedAreFollowedAndNoMore(maximum: Int) throws {
        var route = try route(atMost: maximum)
        for _ in 0..<maximum { try route.follow(redirect("/c")) }
        #expect(throws: RedirectRefusal.tooMany(location: "/c")) { try route.follow(redirect("/c")) }
        #expect(route.redirects.count == maximum)
    }

    @Test(arguments: ["file:///etc/passwd", "data:,x", "cameo://thumb/1", "FTP://example.com/", "javascript:x()"])
    func onlyHTTPIsFollowed(location: String) throws {
        var route = try route()
        #expect(throws: RedirectRefusal.unsupportedScheme(location: location)) {
            try route.follow(redirect(location))
        }
    }

    @Test func aPlaceWithoutAHostIsNone() throws {
        var route = try route()
        #expect(throws: RedirectRefusal.self) { try route.follow(redirect("http://")) }
        #expect(throws: RedirectRefusal.self) { try route.follow(answer(status: 302)) }
        #expect(throws: RedirectRefusal.self) { try route.follow(redirect("/c", status: 200)) }
    }

    @Test(
        arguments: [
            ("POST", 301, "GET"), ("POST", 302, "GET"), ("POST", 303, "GET"), ("POST", 307, "POST"),
            ("POST", 308, "POST"), ("PUT", 301, "PUT"), ("PUT", 302, "PUT"), ("PUT", 303, "GET"),
            ("DELETE", 303, "GET"), ("GET", 303, "GET"), ("HEAD", 303, "HEAD"), ("HEAD", 302, "HEAD"),
        ]
    )
    func aMethodStaysUnlessTheAnswerIsSomewhereElse(method: String, status: Int, expected: String) throws {
        var route = try route(method)
        try route.follow(redirect("/c", status: status))
        #expect(route.method == expected)
        #expect((route.stop.fields["Content-Type"] == nil) == (expected != method))
    }

    @Test(arguments: [(300, true), (301, true), (302, true), (303, true), (304, false), (305, false), (306, false)])
    func someStatusesRedirect(status: Int, isRedirect: Bool) {
        #expect((redirect("/c", status: status).redirection == "/c") == isRedirect)
        #expect(answer(status: status).redirection == nil)
    }
}
