import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

/// What a hostile URL, server or name can try, besides what the suites of each subject have.
@Suite(.origin, .timeLimit(.minutes(10)))
struct HTTPAttackTests {
    private let origin = Origin.ofSuite

    /// Of 169.254.169.254 (cloud metadata), 10.0.0.1, 192.168.0.1, 100.64.0.1 and the like.
    private static let privateHosts = [
        "169.254.169.254", "2852039166", "0xa9fea9fe", "0xA9FEA9FE", "025177524776", "0251.0376.0251.0376",
        "0xa9.0xfe.0xa9.0xfe", "0xa9.254.0251.254", "169.254.43518", "169.16689662", "0xa9.16689662",
        "169%2E254%2E169%2E254",
        "%31%36%39.254.169.254", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[0:0:0:0:0:ffff:a9fe:a9fe]",
        "[::169.254.169.254]", "[::ffff:0:169.254.169.254]", "[64:ff9b::169.254.169.254]", "[64:ff9b:1::a9fe:a9fe]",
        "[2002:a9fe:a9fe::1]", "[2001:0:a9fe:a9fe::1]", "[2606:4700::5efe:169.254.169.254]",
        "10.1", "167772161", "012.0.0.1", "0xa.0.0.1", "192.168.257", "3232235521", "100.64.0.1", "172.31.255.255",
        "[fe80::1]", "[fd00::1]", "[::]", "user:pass@10.0.0.1", "8.8.8.8@10.0.0.1", "10.0.0.1:80", "[::1%25lo]",
    ]

    @Test(arguments: privateHosts)
    func noWritingOfAPrivateAddressPasses(host: String) async throws {
        let fetcher = try Fetcher(FetchConfiguration())
        try await expect(.sourceForbidden, of: "http://\(host)/a.jpg", by: fetcher, isRetryable: false)
    }

    /// Some resolvers and locales take these for addresses, others for names or for nothing.
    @Test(arguments: ["169.254.169.254.", "169。254。169。254", "１６９.２５４.１６９.２５４", "①⑥⑨.②⑤④.①⑥⑨.②⑤④"])
    func noWritingThatIsHardlyAnAddressPasses(host: String) async throws {
        let failure = try await failure(of: "http://\(host)/a.jpg", with: Fetcher(FetchConfiguration()))
        #expect([.sourceForbidden, .sourceInvalid, .sourceUnreachable].contains(failure.code), "\(failure.message)")
        #expect(!failure.message.contains("Couldn't connect"), "\(failure.message)")
    }

    @Test(arguments: privateHosts)
    func noRedirectToAPrivateAddressPasses(host: String) async throws {
        let fetcher = try Fetcher(FetchConfiguration().with(\.allowedHosts, ["localhost:\(origin.port)"]))
        let url = try origin.redirect(to: "http://\(host)/a.jpg", host: "localhost")
        try await expect(.sourceForbidden, of: url, by: fetcher)
    }

    /// Browsers take backslashes for slashes.
    @Test(arguments: ["\\\\10.0.0.1\\a", "/\\10.0.0.1/a", "http:\\/10.0.0.1", " http:///10.0.0.1", "//u@10.0.0.1"])
    func noSpellingOfARedirectPasses(location: String) async throws {
        let fetcher = try Fetcher(FetchConfiguration().with(\.allowedHosts, ["localhost:\(origin.port)"]))
        try await expect(.sourceForbidden, of: origin.redirect(to: location, host: "localhost"), by: fetcher)
    }

    @Test(arguments: [
        "localhost", "LOCALHOST.", "a.localhost", "ip6-localhost", "ip6-loopback", ProcessInfo.processInfo.hostName,
    ])
    func aNameOfThisMachineIsNotConnectedTo(name: String) async throws {
        let origin = try await Origin.start()
        let failure = try await failure(of: origin.url("/bytes", host: name), with: Fetcher(FetchConfiguration()))
        // Unreachable where the resolver does not know it.
        #expect([.sourceForbidden, .sourceUnreachable].contains(failure.code), "\(failure.message)")
        #expect(try await origin.counts().connections == 0)
    }

    @Test(arguments: [
        "/headers?a=%0d%0aX-Injected:%201", "/headers%0d%0aX-Injected:%201", "/headers?a=\r\nX-Injected: 1",
        "/headers HTTP/1.1\r\nX-Injected: 1\r\n\r\n", "/headers?a=\u{0}b", "/headers?a=\nX-Injected: 1",
        "/headers?a=\u{2028}X-Injected: 1", "/headers?a=%E5%98%8A%E5%98%8DX-Injected:%201",
        "/headers#\r\nX-Injected: 1",
    ])
    func noURLInjectsAHeader(path: String) async throws {
        let fetcher = try Fetcher(.forTests)
        do {
            let echo = try await fetcher.fetch(origin.url(path)).contents()
            #expect(!String(decoding: echo, as: UTF8.self).lowercased().contains("\"x-injected\""))
        } catch let failure as JobFailure {
            #expect([.sourceInvalid, .sourceNotFound].contains(failure.code), "\(failure.message)")
            #expect(!failure.message.contains { $0.isNewline }, "\(failure.message)")
        }
    }

    @Test(arguments: [
        "user%0d%0aX-Injected:1:p@127.0.0.1", "u:p%0aX-Injected:1@127.0.0.1", "127.0.0.1%0d%0aX:1",
        "127.0.0.1%00.example.com",
    ])
    func noCredentialOrHostInjectsAHeader(host: String) async throws {
        try await expect(.sourceInvalid, of: origin.url("/headers", host: host), by: Fetcher(.forTests))
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\nhello", [JobFailure.Code.sourceUnreachable]),
        ("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", [.sourceInvalid, .sourceUnreachable]),
        ("HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", [.sourceInvalid, .sourceUnreachable]),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello",
            [.sourceTooLarge, .sourceUnreachable]
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n", [.sourceUnreachable]),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nhello", [.sourceUnreachable]),
        (
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip, gzip, gzip, gzip, gzip, gzip\r\n\r\nhello",
            [.sourceInvalid]
        ),
        // Newer versions of libcurl read three digits.
        (
            "HTTP/1.1 999999 OK\r\nContent-Length: 5\r\n\r\nhello",
            [.sourceInvalid, .sourceUnreachable, .sourceHTTPStatus]
        ),
        ("HTTP/0.9 200 OK\r\n\r\nhello", [.sourceInvalid]), ("hello", [.sourceInvalid]),
        ("HTTP/1.1 302 Found\r\nLocation: http://[::1/\r\nContent-Length: 0\r\n\r\n", [.sourceInvalid]),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", [.sourceUnreachable, .sourceInvalid]),
    ])
    func aMalformedAnswerIsANamedFailure(answer: String, codes: [JobFailure.Code]) async throws {
        let fetcher = try Fetcher(.forTests)
        let failure = try await failure(of: origin.url("/raw?answer=\(escaped(answer))"), with: fetcher)
        #expect(codes.contains(failure.code), "\(failure.code): \(failure.message)")
    }

    /// The bytes behind an announced length would be the answer to whoever uses the connection next.
    @Test
    func bytesBehindTheAnnouncedLengthAreNobodysAnswer() async throws {
        let fetcher = try Fetcher(FetchConfiguration.forTests.with(\.maximumConnectionsPerHost, 1))
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        for _ in 0..<3 {
            let source = try await fetcher.fetch(origin.url("/raw?keep=1&answer=\(escaped(answer))"))
            #expect(try source.contents() == Data("hello".utf8))
            #expect(try await fetcher.fetch(origin.url("/bytes?count=7")).contents() == Data("xxxxxxx".utf8))
        }
    }

    @Test
    func headersWithoutEndAreRefused() async throws {
        let fetcher = try Fetcher(.forTests)
        let failure = try await failure(of: origin.url("/header-flood"), with: fetcher)
        #expect(failure.code != .sourceTimeout, "\(failure.message)")
        #expect(failure.message.contains("/header-flood"))
    }

    @Test(arguments: [
        "bücher.invalid", "BÜCHER.invalid", "xn--bcher-kva.invalid", "例え.invalid", "\u{202E}moc.invalid",
        "a\u{301}.invalid",
    ])
    func aNameInAnyScriptIsLookedUpOrInvalid(host: String) async throws {
        let failure = try await failure(of: "http://\(host)/a.jpg", with: Fetcher(.forTests))
        #expect([.sourceUnreachable, .sourceInvalid].contains(failure.code), "\(failure.message)")
        #expect(!failure.message.unicodeScalars.contains("\u{202E}"))
    }
}
