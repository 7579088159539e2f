import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

/// What goes over the wire is what a browser sends (https://url.spec.whatwg.org).
@Suite(.origin, .timeLimit(.minutes(10)))
struct URLSpellingTests {
    private let origin = Origin.ofSuite
    private let fetcher: Fetcher

    init() throws { fetcher = try Fetcher(.forTests) }

    private func target(of url: String) async throws -> String {
        String(decoding: try await fetcher.fetch(url).contents(), as: UTF8.self)
    }

    /// Each printable character by itself, and some others.
    private static let characters =
        (0x20...0x7E).map { String(UnicodeScalar(UInt8($0))) } + ["\u{1}", "\u{7F}", "é", "😀"]

    private func expectOnly(_ encoded: String, toBeEncodedAfter start: String, but others: String) async throws {
        for character in Self.characters where !others.contains(character) {
            let isPlain = (0x20...0x7E).contains(character.utf8.first ?? 0) && !encoded.contains(character)
            let bytes = character.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16).uppercased() }
            let expected = "\(start)\(isPlain ? character : bytes.joined())b"
            #expect(try await target(of: origin.url("\(start)\(character)b")) == expected)
        }
    }

    @Test func thePathSet() async throws {
        try await expectOnly(" \"<>^`{}", toBeEncodedAfter: "/echo/a", but: "#?/\\")
    }

    @Test func theSpecialQuerySet() async throws {
        try await expectOnly(" \"<>'", toBeEncodedAfter: "/echo/a?b", but: "#")
    }

    @Test func theFragmentStays() async throws {
        #expect(try await target(of: origin.url("/echo/a?b#c d?e")) == "/echo/a?b")
        #expect(try await target(of: origin.url("/echo/a#c/d")) == "/echo/a")
    }

    @Test func theUserInformationSet() async throws {
        for character in Self.characters where !"#/:?\\%\u{1}\u{7F}".contains(character) {
            let user = "u\(character)"
            let echo = try await target(of: origin.url("/headers", host: "\(user):p\(character)@127.0.0.1"))
            let expected = "Basic " + Data("\(user):p\(character)".utf8).base64EncodedString()
            #expect(echo.contains(expected), "\(character)")
        }
    }

    @Test(arguments: [
        ("/echo?", "/echo?"), ("/echo?#a", "/echo?"), ("/echo??", "/echo??"), ("/echo?a=b c+d", "/echo?a=b%20c+d"),
        ("/echo/%zz%2f%c3%A9", "/echo/%zz%2f%c3%A9"), ("/echo/{id}|^[1]", "/echo/%7Bid%7D|%5E[1]"),
        ("/echo\\a\\b?c\\d", "/echo/a/b?c\\d"), ("\\echo", "/echo"), ("/echo//a///", "/echo//a///"),
        ("/x/../echo/./a/%2E%2e/b", "/echo/b"), ("/echo/a/..", "/echo/"), ("/echo/a/.%2e", "/echo/"),
        ("/../../echo/.", "/echo/"), ("/echo/...", "/echo/..."), ("/echo/a?b/../c", "/echo/a?b/../c"),
        ("/ec\tho/\na\r", "/echo/a"), ("/echo/a  ", "/echo/a"), ("/echo/a;b=c,d&e", "/echo/a;b=c,d&e"),
    ])
    func pathsAndQueries(written: String, sent: String) async throws {
        #expect(try await target(of: origin.url(written)) == sent)
    }

    @Test(arguments: ["http:", "http:/", "http:///", "HTTP:\\\\", "http:/\\"])
    func startsOfURLs(start: String) async throws {
        #expect(try await target(of: "\(start)127.0.0.1:\(origin.port)/echo/a") == "/echo/a")
        #expect(try await target(of: "\(start)127.0.0.1:\(origin.port)\\echo?a@b") == "/echo?a@b")
    }

    @Test(arguments: [
        ("../echo/x y", "/echo/x%20y"), ("..\\echo\\x", "/echo/x"), ("\\echo\\x?", "/echo/x?"), ("/echo?", "/echo?"),
        ("http:/echo/a", "/echo/a"), ("http:../echo/a", "/echo/a"), ("http:\\\\HOST\\echo", "/echo"),
        ("\\/HOST/echo/'?'", "/echo/'?%27"), ("//HOST/echo/./a", "/echo/a"), (" /echo/a ", "/echo/a"),
        ("http:///HOST/echo", "/echo"), ("/echo/ü", "/echo/%FC"), ("../%2e%2e/echo/a#b", "/echo/a"),
    ])
    func referencesInRedirects(location: String, sent: String) async throws {
        let origin = try await Origin.start()
        let location = location.replacing("HOST", with: "127.0.0.1:\(origin.port)")
        #expect(try await target(of: origin.url("/redirect/?to=\(escaped(location))")) == sent)
    }

    @Test func aReferenceMayBeAQueryAlone() async throws {
        let path = "/scripted/query"
        let locations = ["?a b", "/echo/c"]
        try await origin.script(path, locations.map { ScriptedAnswer(302, ["Location: \($0)"]) })
        #expect(try await target(of: origin.url("\(path)?x")) == "/echo/c")
        let failure = try await failure(of: origin.url("/redirect?to=%3Fa%20b"), with: fetcher)
        #expect(failure.message.contains("/redirect?a b "), "\(failure.message)")
    }

    @Test func aProxyIsAskedForTheWhole() async throws {
        let proxied = try Fetcher(FetchConfiguration.forTests.with(\.proxy, origin.url("")))
        for url in ["http://pictures.invalid/echo/a?", "http://pictures.invalid/echo/a?b"] {
            #expect(try await proxied.fetch(url).contents() == Data(url.utf8))
        }
    }
}
