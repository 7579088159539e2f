import CameoModel
import CameoSQLite
import CameoStore
import CameoSystem
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoWeb

/// Thumbnails that are made when they are first asked for.
@Suite(.timeLimit(.minutes(10)))
struct MakeTests {
    private static let key = Array("0123456789abcdef".utf8)
    private let picture = WebBench.picture()
    private let source = "https://example.com/a b/cat.png?size=1"

    private func signed(
        _ rendition: String,
        _ source: String,
        expires: Int64? = nil,
        key: [UInt8] = key
    ) throws -> String {
        let signingKey = try #require(SigningKey(key))
        let message = "\(rendition)\n\(source)\n\(expires.map(String.init) ?? "")"
        let query = expires.map { "&expires=\($0)" } ?? ""
        return
            "/make/\(rendition)/\(PercentEncoding.encoded(source))?sig=\(signingKey.signature(of: message.utf8))\(query)"
    }

    private func bench(_ configure: (inout WebConfiguration) throws -> Void = { _ in }) async throws -> WebBench {
        try await WebBench { configuration in
            configuration.signingKeys = [try #require(SigningKey(Self.key))]
            try configure(&configuration)
        }
    }

    /// RFC 4231, test cases 1 to 4 and 6 to 7.
    @Test(arguments: [
        (
            String(repeating: "\u{0b}", count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        ("Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    ])
    func signaturesAreTheStandards(key: String, message: String, digest: String) {
        #expect(Hexadecimal.encode(HMACKey(Array(key.utf8)).code(of: message.utf8)) == digest)
    }

    @Test func aLongKeyIsHashed() {
        let key = HMACKey([UInt8](repeating: 0xAA, count: 131))
        #expect(
            Hexadecimal.encode(key.code(of: "Test Using Larger Than Block-Size Key - Hash Key First".utf8))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        )
    }

    @Test func aSignedURLBecomesAJobAndThenAThumbnail() async throws {
        let bench = try await bench()
        let url = try signed("64x64:cover:webp:q75", source)
        let first = try await bench.get(url)
        #expect(first.status == 202, "\(first.text)")
        let job = try await bench.store.job(1)
        #expect(job.queue == "web")
        #expect(job.priority > 0)
        #expect(job.source == source)
        // The second view joins the first.
        async let second = bench.wait(url + "&wait=30s")
        try await bench.work(try await bench.register(), with: picture)
        #expect(try await second.status == 200)
        #expect(try await second.body == picture)
        let third = try await bench.get(url)
        #expect(third.status == 200)
        #expect(third["ETag"] == "\"\(BlobDigest(of: picture))\"")
        #expect(try await bench.get(url, ["If-None-Match": third["ETag"] ?? ""]).status == 304)
        #expect(try await bench.send("HEAD", url).body.isEmpty)
        await #expect(throws: StoreError.noSuchJob(2)) { try await bench.store.job(2) }
    }

    @Test func whatIsNotSignedIsNotMade() async throws {
        let bench = try await bench()
        let url = try signed("64x64", source)
        for target in [
            "/make/64x64/\(PercentEncoding.encoded(source))", url.replacing("64x64/", with: "65x65/"),
            url.replacing("cat.png", with: "dog.png"), url + "0", url.replacing("sig=", with: "sig=0"),
            try signed("64x64", source, key: Array("another-0123456789".utf8)),
            url + "&expires=9999999999",
            try signed("64x64", source, expires: 4_000_000_000).replacing("4000000000", with: "4000000001"),
        ] {
            #expect(try await bench.get(target).status == 403, "\(target)")
        }
        #expect(try await bench.get(try signed("64x64", source, expires: 1_000_000_000)).status == 410)
        #expect(try await bench.get(try signed("64x64", source, expires: 4_000_000_000)).status == 202)
        #expect(try await bench.send("POST", url).status == 405)
        #expect(try await WebBench().get(url).status == 404)
    }

    /// No cache has it for longer than the URL lasts, whatever it asks, and nothing but its end is stale.
    @Test func whatEndsIsFreshUntilThen() async throws {
        let bench = try await bench { $0.imgproxyKeys = try ImgproxyKey.all(parsing: "736563726574 68656C6C6F") }
        let imgproxyKey = try ImgproxyKey.all(parsing: "736563726574 68656C6C6F")[0]
        let source = "https://example.com/cat.png"
        let now = Int64(Date().timeIntervalSince1970)
        for (expires, most) in [(now + 50, 50), (now + 4_000, 60), (Int64.max, 60)] {
            let path = "/w:64/h:64/f:webp/exp:\(expires)/plain/\(source)"
            for url in [
                try signed("64x64:webp", source, expires: expires),
                "/\(imgproxyKey.signature(of: path))\(path)",
            ] {
                let pending = try await bench.get(url + (url.contains("?") ? "" : "?wait=0"))
                if pending.status == 202 {
                    #expect(pending["Cache-Control"] == "no-store")
                    try await bench.work(try await bench.register(), with: picture)
                }
                let tag = ["If-None-Match": "\"\(BlobDigest(of: picture))\""]
                for (method, headers, status) in [
                    ("GET", [:], 200), ("GET", [:], 200), ("HEAD", [:], 200), ("GET", tag, 304), ("HEAD", tag, 304),
                    ("GET", ["Range": "bytes=0-9"], 206),
                ] {
                    let answer = try await bench.send(method, url, headers)
                    #expect(answer.status == status, "\(answer.text)")
                    let control = try #require(answer["Cache-Control"])
                    let age = try #require(control.wholeMatch(of: #/public, max-age=(\d+), must-revalidate/#)?.1)
                    #expect((1...most).contains(try #require(Int(age))), "\(control)")
                }
            }
        }
        let lasting = try await bench.get(try signed("64x64:webp", source))
        #expect(lasting["Cache-Control"] == "public, max-age=60, stale-while-revalidate=86400")
    }

    @Test func aProxyMayEncodeOtherwise() async throws {
        let bench = try await bench()
        let url = try signed("64x64:cover", "https://example.com/cat.png")
        let other = url.replacing("64x64:cover", with: "64x64%3Acover").replacing(
            "https%3A%2F%2Fexample.com%2F",
            with: "https://example.com/"
        )
        #expect(try await bench.get(other).status == 202)
    }

    @Test func whatOthersAppendIsNotSigned() async throws {
        let answer = try await bench().get(try signed("64x64", source) + "&fbclid=x&v=2")
        #expect(answer.status == 202 && answer["Cameo-Ignored-Query"] == "fbclid, v")
    }

    /// Caches do that to paths, whose signature then covers what the URL was.
    @Test func aCacheMayMergeSlashesOrAppendOne() async throws {
        let bench = try await bench()
        for source in [
            "https://example.com/cat.png", "http://example.com/a/",
            "cameo://thumb/\(String(repeating: "0", count: 32))",
        ] {
            let url = try signed("64x64", source)
            let path = "/make/64x64/\(source)"
            let query = url.split(separator: "?")[1]
            for other in [path, path.replacing("://", with: ":/"), path + "/", path.replacing("://", with: ":/") + "/"]
            {
                let answer = try await bench.get("\(other)?\(query)")
                #expect(answer.status == 202, "\(other): \(answer.text)")
            }
            #expect(try await bench.get("\(path)x/?\(query)").status == 403)
        }
        // One job a source.
        await #expect(throws: StoreError.noSuchJob(4)) { try await bench.store.job(4) }
        #expect(try await bench.store.job(1).source == "https://example.com/cat.png")
        let unsigned = try await WebBench { $0.allowsUnsigned = true }
        #expect(try await unsigned.get("/make/64x64/https:/example.com/http:/b").status == 202)
        #expect(try await unsigned.store.job(1).source == "https://example.com/http:/b")
    }

    /// What only a token may read can be had made by signed URLs alone.
    @Test func withoutSignaturesNothingIsMadeOfTheStore() async throws {
        let bench = try await WebBench { configuration in
            configuration.allowsUnsigned = true
            configuration.imgproxyKeys = try ImgproxyKey.all(parsing: "736563726574 68656C6C6F")
        }
        try await bench.keep("https://example.com/private", picture, freshFor: 600)
        let original = "cameo://source/https%3A%2F%2Fexample.com%2Fprivate"
        for source in [original, original.replacing("cameo", with: "CaMeO"), original.replacing("://", with: ":/")] {
            let encoded = PercentEncoding.encoded(source)
            for path in ["/make/64x64/\(encoded)", "/unsafe/w:64/plain/\(encoded)"] {
                let answer = try await bench.get("\(path)?wait=0")
                #expect(answer.status == 400, "\(path)")
                #expect(try answer.json["code"] == "source.unsupportedScheme")
            }
        }
        #expect(try await self.bench().get(try signed("64x64", original)).status == 202)
    }

    @Test func twoKeysAreInUseWhileOneIsReplaced() async throws {
        let old = Array("an-old-key-0123456789".utf8)
        let bench = try await bench { $0.signingKeys.append(try #require(SigningKey(old))) }
        #expect(try await bench.get(try signed("64x64", source, key: old)).status == 202)
        #expect(try await bench.get(try signed("64x64", source)).status == 202)
        #expect(SigningKey(Array("short".utf8)) == nil)
    }

    @Test func presetsHaveNames() async throws {
        let bench = try await WebBench { $0.allowsUnsigned = true }
        let source = PercentEncoding.encoded(source)
        for (name, width) in [("gallery", 320), ("gallery:view", 1280), ("32x", 32)] {
            let id = try await bench.get("/make/\(name)/\(source)").json["job"]
            guard case .integer(let job) = id else { throw RawAnswer.Malformed(text: name) }
            let request = try ThumbnailRequest(json: try await bench.store.job(job).request)
            #expect(request.renditions[0].width == width)
        }
        for name in ["gallery:nothing", "nothing", "64", "64x64:purple", "x", "-1x5", "0x0", "99999x1"] {
            let status = try await bench.get("/make/\(name)/\(source)").status
            #expect([400, 422].contains(status), "\(name): \(status)")
        }
    }

    @Test(arguments: ["file:///etc/passwd", "/etc/passwd", "data:,x", "upload:1", "ftp://example.com/a.png", "a.png"])
    func onlySourcesOfTheWebAreMade(source: String) async throws {
        let bench = try await WebBench { $0.allowsUnsigned = true }
        let answer = try await bench.get("/make/64x64/\(PercentEncoding.encoded(source))")
        #expect(answer.status == 400)
        #expect(try answer.json["code"] == "source.unsupportedScheme")
    }

    @Test func aFailureIsToldAndNotTriedAgainAtOnce() async throws {
        let bench = try await bench()
        let url = try signed("64x64", source)
        #expect(try await bench.get(url).status == 202)
        try await bench.discard(try await bench.register(), .sourceNotFound)
        for _ in 0..<3 {
            let answer = try await bench.get(url)
            #expect(answer.status == 404)
            #expect(try answer.json["code"] == "source.notFound")
            #expect(answer["Retry-After"] == "60")
        }
        await #expect(throws: StoreError.noSuchJob(2)) { try await bench.store.job(2) }
    }

    /// The article's function, run as it stands there.
    @Test func theArticlesURLsAreAnswered() async throws {
        let bench = try await bench()
        let block = try #require(try Page.article("Web").blocks.first { $0.text.contains("def make_url") }?.text)
        let program =
            block + """

                print(make_url(b"\(String(decoding: Self.key, as: UTF8.self))", "64x64:cover", "\(source)"))
                print(make_url(b"\(String(decoding: Self.key, as: UTF8.self))", "gallery:grid", "\(source)", "4000000000"))
                """
        let result = try await run("python3", ["-c", program])
        let urls = result.outputText.split(separator: "\n").map(String.init)
        #expect(urls.count == 2, "\(result.errorText)")
        for url in urls { #expect(try await bench.get(url).status == 202, "\(url)") }
    }
}
