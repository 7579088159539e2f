import CameoHTTPCache
import CameoModel
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import StoreConformance
import Testing

/// Stored bytes over HTTP.
@Suite(.timeLimit(.minutes(10)))
struct ReadingTests {
    private let bench: WebBench
    private let picture = WebBench.picture()

    init() async throws {
        bench = try await WebBench()
    }

    @Test func aThumbnailHasItsTypeLengthTagAndRules() async throws {
        let id = try await bench.makeThumbnail(picture)
        let answer = try await bench.get("/thumb/\(id)")
        #expect(answer.status == 200)
        #expect(answer.body == picture)
        #expect(answer["Content-Type"] == "image/webp")
        #expect(answer["Content-Length"] == "\(picture.count)")
        #expect(answer["ETag"] == "\"\(BlobDigest(of: picture))\"")
        #expect(answer["Cache-Control"] == "public, max-age=60, stale-while-revalidate=86400")
        #expect(answer["X-Content-Type-Options"] == "nosniff")
        #expect(answer["Accept-Ranges"] == "bytes")
        #expect(answer["Last-Modified"]?.hasSuffix(" GMT") == true)
        #expect(answer["Content-Security-Policy"] == nil)
        #expect(try await bench.get("/thumb/\(id).webp").body == picture)
        #expect(try await bench.get("/thumb/\(id).jpg").status == 404)
        #expect(try await bench.get("/thumb/\(id).exe").status == 404)
    }

    @Test func headIsGetWithoutItsBody() async throws {
        let id = try await bench.makeThumbnail(picture)
        let (get, head) = (try await bench.get("/thumb/\(id)"), try await bench.send("HEAD", "/thumb/\(id)"))
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        var (ofGet, ofHead) = (get.headers, head.headers)
        (ofGet["date"], ofHead["date"]) = (nil, nil)
        #expect(ofGet == ofHead)
    }

    /// What was answered is answered again on the connection's event loop, while its name refers to the same content.
    @Test(arguments: [
        "", "If-None-Match: TAG\r\n", "If-None-Match: \"other\"\r\n", "Range: bytes=3-9\r\n",
        "If-Modified-Since: Mon, 01 Jan 2001 00:00:00 GMT\r\n", "Accept: image/avif\r\nOrigin: http://a\r\n",
        "X-Unknown: 1\r\n",
    ])
    func anAnswerGivenAgainIsTheSame(field: String) async throws {
        let id = try await bench.makeThumbnail(picture)
        let tag = try #require(try await bench.get("/thumb/\(id)")["ETag"])
        let head = "GET /thumb/\(id) HTTP/1.1\r\nHost: localhost\r\n" + field.replacing("TAG", with: tag)
        let other = WebBench.picture(bytes: 5_000)
        for bytes in [picture, other] {
            if bytes == other {
                let digest = try await bench.store.store(other, mediaType: nil)
                try await bench.sql("UPDATE thumbnail SET blob = '\(digest.hex)'")
            }
            let both = try await bench.exchange(Data("\(head)\r\n\(head)Connection: close\r\n\r\n".utf8))
            let length = both["Content-Length"].flatMap { Int($0) } ?? 0
            var (first, second) = (both.headers, try RawAnswer(both.body.dropFirst(length)))
            #expect(both.status == second.status)
            #expect(both.body.prefix(length) == second.body)
            #expect(second.body.isEmpty || field.contains("Range") || second.body == bytes)
            var last = second.headers
            for name in ["date", "connection"] { (first[name], last[name]) = (nil, nil) }
            #expect(first == last)
        }
        try await bench.sql("DELETE FROM thumbnail")
        #expect(try await bench.exchange(Data("\(head)\r\n\(head)Connection: close\r\n\r\n".utf8)).status == 404)
    }

    /// That costs a look at one row: nothing is held in memory, and these bytes could not be read.
    @Test func whoHasTheBytesNeedsNoneOfTheStore() async throws {
        let bench = try await WebBench { $0.memoryCapacity = 0 }
        let id = try await bench.makeThumbnail(picture)
        let tag = try #require(try await bench.get("/thumb/\(id)")["ETag"])
        try await bench.sql("UPDATE blob SET data = zeroblob(size);")
        let head = "GET /thumb/\(id).webp HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \(tag)\r\n"
        let first = try await bench.exchange(Data("\(head)\r\n\(head)Connection: close\r\n\r\n".utf8))
        for answer in [first, try RawAnswer(first.body)] {
            #expect(answer.status == 304 && answer["ETag"] == tag && answer["Content-Type"] == nil)
            #expect(answer["Cache-Control"] == "public, max-age=60, stale-while-revalidate=86400")
        }
        #expect(try await bench.get("/thumb/\(id).jpg", ["If-None-Match": tag]).status == 404)
        #expect(try await bench.get("/thumb/\(id).webp").status == 500)
    }

    /// Also on a connection whose last request was answered at once.
    @Test func everyRequestNamesItsHost() async throws {
        let path = "/thumb/\(try await bench.makeThumbnail(picture))"
        _ = try await bench.get(path)
        let requests = ["localhost", "evil.example", "localhost"].map {
            "GET \(path) HTTP/1.1\r\nHost: \($0)\r\n\r\n"
        }
        let last = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        let port = bench.port
        let received = try await WebBench.blocking {
            try RawConnection(port: port).exchange(Data((requests.joined() + last).utf8))
        }
        let statuses = String(decoding: received, as: UTF8.self).matches(of: #/HTTP\/1\.1 (\d+) [A-Z]/#).map {
            Int($0.1)
        }
        #expect(statuses == [200, 421, 200, 200])
    }

    /// What decides about an answer, or about the connection, is never passed over when it is given again.
    @Test func whatDecidesAboutAnAnswerIsNotNeutral() {
        let deciding: Set = [
            "host", "origin", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "range",
            "if-range",
            "expect",
            "content-length", "transfer-encoding", "connection", "upgrade", "te",
        ]
        #expect(Route.neutralFields.isDisjoint(with: deciding))
    }

    @Test func aReadingIsNoted() async throws {
        let id = try await bench.makeThumbnail(picture)
        _ = try await bench.get("/thumb/\(id)")
        await bench.store.finish()
        var retention = Retention.forever
        retention.thumbnails = .zero
        #expect(try await bench.store.prunable(retention).thumbnails == 0)
    }

    @Test(arguments: [
        ("If-None-Match", "TAG", 304), ("If-None-Match", "W/TAG", 304), ("If-None-Match", "*", 304),
        ("If-None-Match", "\"other\", TAG", 304), ("If-None-Match", "\"other\"", 200),
        ("If-None-Match", "\"a,b\", TAG", 304), ("If-None-Match", "\"TAG", 200),
        ("If-Modified-Since", "MODIFIED", 304), ("If-Modified-Since", "Mon, 01 Jan 2001 00:00:00 GMT", 200),
        ("If-Modified-Since", "RFC850", 304), ("If-Modified-Since", "ASCTIME", 304),
        ("If-Modified-Since", "Monday, 01-Jan-01 00:00:00 GMT", 200),
        ("If-Modified-Since", "Mon Jan  1 00:00:00 2001", 200), ("If-Modified-Since", "yesterday", 200),
        ("If-Modified-Since", "Sun, 06 Nov 2094 08:49:37 GMT", 304), ("If-Unmodified-Since", "RFC850", 200),
        ("If-Unmodified-Since", "Mon Jan  1 00:00:00 2001", 412),
        ("If-Match", "TAG", 200), ("If-Match", "*", 200), ("If-Match", "\"other\", TAG", 200),
        ("If-Match", "\"a, b\"", 412), ("If-Match", "W/TAG", 412), ("If-Match", "", 412),
        ("If-Unmodified-Since", "MODIFIED", 200), ("If-Unmodified-Since", "Sun, 06 Nov 2094 08:49:37 GMT", 200),
        ("If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT", 412), ("If-Unmodified-Since", "yesterday", 200),
    ])
    func conditionsAreKept(name: String, value: String, status: Int) async throws {
        let id = try await bench.makeThumbnail(picture)
        let first = try await bench.get("/thumb/\(id)")
        let dates = try Self.spellings(of: try #require(first["Last-Modified"]))
        let value = value.replacingOccurrences(of: "TAG", with: first["ETag"] ?? "")
            .replacingOccurrences(of: "MODIFIED", with: dates[0])
            .replacingOccurrences(of: "RFC850", with: dates[1]).replacingOccurrences(of: "ASCTIME", with: dates[2])
        let answer = try await bench.get("/thumb/\(id)", [name: value])
        #expect(answer.status == status)
        if status == 412 {
            #expect(answer["Content-Type"] == "application/problem+json")
            return
        }
        #expect(answer["ETag"] == first["ETag"])
        #expect(answer["Cache-Control"] == first["Cache-Control"])
        if status == 304 {
            #expect(answer.body.isEmpty)
            #expect(answer["Content-Length"] == nil)
        }
    }

    /// A date in the three forms of HTTP (RFC 9110, section 5.6.7), the usual one first.
    private static func spellings(of date: String) throws -> [String] {
        let time = try #require(HTTPDate.parse(date, now: Date())).timeIntervalSince1970
        return [date] + ["%A, %d-%b-%y %T GMT", "%a %b %e %T %04Y"].map { UTCTime.text(Int(time), $0) }
    }

    @Test func aRangeGoesOnByADateInAnyForm() async throws {
        let path = "/thumb/\(try await bench.makeThumbnail(picture))"
        let first = try await bench.get(path)
        let dates = try Self.spellings(of: try #require(first["Last-Modified"]))
        let others = ["Monday, 01-Jan-01 00:00:00 GMT", "yesterday", "W/\(first["ETag"] ?? "")"]
        for (value, status) in (dates + [first["ETag"] ?? ""]).map({ ($0, 206) }) + others.map({ ($0, 200) }) {
            let answer = try await bench.get(path, ["Range": "bytes=0-9", "If-Range": value])
            #expect(answer.status == status, "\(value)")
        }
    }

    /// A download in ranges goes on with the same bytes or not at all, whatever else is asked.
    @Test func aRangeOfAnotherVersionIsRefused() async throws {
        let id = try await bench.makeThumbnail(picture)
        try await bench.keep("https://example.com/a", picture, freshFor: 600)
        let tag = "\"\(BlobDigest(of: picture))\""
        for path in ["/thumb/\(id)", "/blob/\(BlobDigest(of: picture))", "/source/https%3A%2F%2Fexample.com%2Fa"] {
            let range = ["Range": "bytes=10-19"]
            #expect(try await bench.get(path, range.merging(["If-Match": tag]) { $1 }).status == 206)
            for headers in [
                ["If-Match": "\"old\""], ["If-Match": "\"old\"", "If-None-Match": tag, "If-Range": tag],
            ] {
                #expect(try await bench.get(path, range.merging(headers) { $1 }).status == 412, "\(path)")
                #expect(try await bench.send("HEAD", path, headers).status == 412, "\(path)")
            }
        }
        for path in ["/", "/placeholder/\(id)"] {
            #expect(try await bench.get(path, ["If-Match": "\"old\""]).status == 412, "\(path)")
        }
    }

    /// Of a small blob, which stands in the database, and of one that stands in a file.
    @Test(arguments: [4_000, 900_000])
    func rangesAreKept(size: Int) async throws {
        let data = WebBench.picture(bytes: size)
        let digest = try await bench.store.store(data, mediaType: nil)
        for (field, range) in [
            ("bytes=0-99", 0..<100), ("bytes=100-", 100..<size), ("bytes=-50", (size - 50)..<size),
            ("bytes=0-0", 0..<1), ("bytes=10-9999999", 10..<size),
        ] {
            let answer = try await bench.get("/blob/\(digest)", ["Range": field])
            #expect(answer.status == 206, "\(field)")
            #expect(answer.body == data.subdata(in: range), "\(field)")
            #expect(answer["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
            #expect(answer["Content-Length"] == "\(range.count)")
        }
        let outside = try await bench.get("/blob/\(digest)", ["Range": "bytes=\(size)-"])
        #expect(outside.status == 416)
        #expect(outside["Content-Range"] == "bytes */\(size)")
        // What is malformed or of several parts is as if it were not there; so is a part of other bytes.
        for headers in [
            ["Range": "bytes=5-2"], ["Range": "bytes=0-1,3-4"], ["Range": "lines=1-2"],
            ["Range": "bytes=0-9", "If-Range": "\"other\""],
        ] {
            #expect(try await bench.get("/blob/\(digest)", headers).status == 200)
        }
        let tag = try await bench.send("HEAD", "/blob/\(digest)", ["Range": "bytes=0-9"])
        #expect(tag.status == 200)
        #expect(tag["Content-Length"] == "\(size)")
    }

    @Test func aBlobIsImmutable() async throws {
        let data = WebBench.picture(bytes: 2_000_000)
        let digest = try await bench.store.store(data, mediaType: nil)
        let answer = try await bench.get("/blob/\(digest)")
        #expect(answer.status == 200)
        #expect(answer.body == data)
        #expect(answer["Content-Type"] == "image/webp")
        #expect(answer["Cache-Control"] == "public, max-age=31536000, immutable")
    }

    @Test func aSecondReadingComesFromMemoryAndIsNotedToo() async throws {
        let id = try await bench.makeThumbnail(picture)
        #expect(try await bench.get("/thumb/\(id)").body == picture)
        // It was made long ago, and readings have been noted ever since.
        try await bench.sql("UPDATE thumbnail SET updated_at = 1, read_at = 1; UPDATE epoch SET since = 1;")
        #expect(try await bench.get("/thumb/\(id)").body == picture)
        await bench.store.finish()
        var retention = Retention.forever
        retention.thumbnails = .seconds(86_400)
        #expect(try await bench.store.prunable(retention).thumbnails == 0)
        let accept = ["Accept": "application/openmetrics-text"]
        let metrics = try MetricsDocument(try await bench.get("/metrics", accept).text)
        #expect(metrics["cameo_web_memory_reads_total{result=\"hit\"}"] == 1)
        #expect(metrics["cameo_web_memory_reads_total{result=\"miss\"}"] == 1)
        #expect(metrics["cameo_web_memory_bytes"] ?? 0 > Double(picture.count))
    }

    @Test(arguments: [("?look", 1), ("", 0)])
    func aLookAtABlobIsNoUse(query: String, prunable: Int) async throws {
        let id = try await bench.makeThumbnail(picture)
        try await bench.sql("UPDATE thumbnail SET updated_at = 1, read_at = 1; UPDATE epoch SET since = 1;")
        #expect(try await bench.get("/blob/\(BlobDigest(of: picture))\(query)").body == picture)
        await bench.store.finish()
        var retention = Retention.forever
        retention.thumbnails = .seconds(86_400)
        #expect(try await bench.store.prunable(retention).thumbnails == prunable, "\(id)")
    }

    @Test func whatIsForgottenOrRemovedIsNotServedFromMemory() async throws {
        let id = try await bench.makeThumbnail(picture)
        try await bench.keep("https://example.com/a", picture, freshFor: 600)
        for path in ["/thumb/\(id)", "/source/https%3A%2F%2Fexample.com%2Fa"] {
            #expect(try await bench.get(path).body == picture)
        }
        _ = try await bench.store.forgetSource("https://example.com/a", .originals)
        #expect(try await bench.get("/source/https%3A%2F%2Fexample.com%2Fa").status == 404)
        try await bench.sql("DELETE FROM thumbnail;")
        #expect(try await bench.get("/thumb/\(id)").status == 404)
    }

    /// From the moment of the answer, also for who knows the digest, and in memory.
    @Test func whatIsForgottenIsGoneForEverybody() async throws {
        let bench = try await WebBench(tokens: ["operator": "read,operate", "reader": "read"])
        let (operates, reads) = (WebBench.bearer("operator"), WebBench.bearer("reader"))
        let id = try await bench.makeThumbnail(picture)
        let paths = ["/thumb/\(id)", "/thumb/\(id).json", "/blob/\(BlobDigest(of: picture))"]
        for path in paths { #expect(try await bench.get(path).status == 200, "\(path)") }
        #expect(try await bench.send("DELETE", paths[0]).status == 401)
        #expect(try await bench.send("DELETE", paths[0], reads).status == 403)
        #expect(try await bench.send("DELETE", paths[2], operates).status == 405)
        #expect(try await bench.send("DELETE", "/thumb/nonsense", operates).status == 404)
        #expect(try await bench.send("DELETE", paths[0] + "?now=yes", operates).status == 400)

        let receipt = try await bench.send("DELETE", paths[0], operates)
        #expect(receipt.status == 200)
        let told = try WireFormat.decode(ForgetReceipt.self, from: receipt.body)
        #expect(told.thumbnails == 1 && told.bytes == picture.count)
        let end = try #require(told.cachedUntil)
        #expect(end > Date(timeIntervalSinceNow: 86_000) && end < Date(timeIntervalSinceNow: 87_000))
        for path in paths + [paths[0] + "?job=1"] {
            let answer = try await bench.get(path)
            #expect(answer.status == 410 && answer["Cache-Control"] == "no-store", "\(path)")
        }
        let again = try await bench.send("DELETE", paths[0], operates)
        #expect(again.status == 200)
        #expect(try again.json["thumbnails"] == 0)
        let never = "/thumb/\(String(repeating: "0", count: 32))"
        #expect(try await bench.send("DELETE", never, operates).status == 404)
        #expect(try await bench.get("/thumb/\(String(repeating: "0", count: 32))").status == 404)
    }

    @Test func aSelectorSaysWhatIsForgotten() async throws {
        let bench = try await WebBench(tokens: ["operator": "read,operate"])
        let headers = WebBench.bearer("operator").merging(["Content-Type": "application/json"]) { $1 }
        func forget(_ selector: String) async throws -> RawAnswer {
            try await bench.send("POST", "/forget", headers, body: Data(selector.utf8))
        }
        let id = try await bench.makeThumbnail(picture)
        try await bench.sql("INSERT INTO label VALUES (1, 0, 'u'); INSERT INTO thumbnail_label VALUES ('\(id)', 1);")
        let original = Data("original".utf8)
        try await bench.keep("https://example.com/a", original, freshFor: 600)
        for (selector, reason) in [
            ("{}", "exactly one of"), (#"{"label":"u","job":1}"#, "exactly one of"), (#"{"labels":"u"}"#, "labels"),
            (#"{"label":7}"#, "label: must be a string"), (#"{"uri":"cameo://blob/1"}"#, "uri: must be"), ("[", "JSON"),
        ] {
            let answer = try await forget(selector)
            #expect([400, 422].contains(answer.status) && answer.text.contains(reason), "\(answer.text)")
        }
        #expect(try await forget(#"{"label":"v"}"#).status == 404)
        for (items, status) in [("dryRun=true", 200), ("dryRun=yes", 400), ("dryRun=true&now=true", 400)] {
            let body = Data(#"{"label":"u"}"#.utf8)
            let answer = try await bench.send("POST", "/forget?\(items)", headers, body: body)
            #expect(answer.status == status && (status == 400 || answer.text.contains(#""thumbnails":1"#)), "\(items)")
        }
        #expect(try await bench.get("/thumb/\(id)").body == picture)
        #expect(try await forget(#"{"label":"u"}"#).json["thumbnails"] == 1)
        #expect(try await bench.get("/thumb/\(id)").status == 410)
        let source = "/source/https%3A%2F%2Fexample.com%2Fa"
        #expect(try await bench.get(source, headers).body == original)
        #expect(try await bench.send("DELETE", source, headers).status == 200)
        #expect(try await bench.get(source, headers).status == 404)
    }

    @Test(arguments: [300, 900_000])
    func aDamagedBlobIsNeverServed(size: Int) async throws {
        let bench = try await WebBench { $0.memoryCapacity = 0 }
        let data = WebBench.picture(bytes: size)
        let digest = try await bench.store.store(data, mediaType: nil)
        #expect(try await bench.get("/blob/\(digest)").status == 200)
        if size > 102_400 {
            let path = "\(bench.store.location)/blobs/\(digest.hex.prefix(2))/\(digest.hex.dropFirst(2))"
            var damaged = data
            damaged[500_000] ^= 1
            try damaged.write(to: URL(filePath: path))
        } else {
            try await bench.sql("UPDATE blob SET data = zeroblob(size) WHERE digest = '\(digest.hex)';")
        }
        let answer = try await bench.get("/blob/\(digest)")
        #expect(answer.status == 500)
        #expect(try answer.json["code"] == "store.failed")
    }

    @Test(arguments: ["image/svg+xml", "text/html", "application/xml"])
    func whatABrowserWouldRunDoesNothing(mediaType: String) async throws {
        let data = Data("<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>".utf8)
        let digest = try await bench.store.store(data, mediaType: mediaType)
        let answer = try await bench.get("/blob/\(digest)")
        #expect(answer.status == 200)
        #expect(answer["Content-Security-Policy"]?.contains("default-src 'none'") == true)
        #expect(answer["Content-Security-Policy"]?.contains("sandbox") == true)
        #expect(answer["X-Content-Type-Options"] == "nosniff")
    }

    @Test func aSourceIsFoundByItsURL() async throws {
        let uri = "https://example.com/a b/cat.png?size=1&x=ä"
        try await bench.keep(uri, picture, freshFor: 1_000)
        let answer = try await bench.get("/source/\(PercentEncoding.encoded(uri))")
        #expect(answer.status == 200)
        #expect(answer.body == picture)
        #expect(answer["Cache-Control"]?.hasPrefix("private, max-age=9") == true)
        #expect(try await bench.get("/source/https%3A%2F%2Fexample.com%2Fother").status == 404)
    }

    @Test func aThumbnailKnowsWhoIsToMakeIt() async throws {
        let worker = try await bench.register()
        let source = "https://example.com/a"
        _ = try await bench.store.enqueue([ThumbnailRequest(source: source, renditions: [Rendition(width: 32)])])
        try await bench.work(worker, with: picture)
        // The source is known to have 640 × 480 pixels.
        let wide = ThumbnailRequest(source: source, renditions: [Rendition(width: 320)])
        let path = try await bench.store.enqueue([wide])[0].path
        for ending in ["", ".json", ".json?job=2", ".json?wait=0"] {
            let answer = try await bench.get(path + ending, ["Accept": ending.isEmpty ? "*/*" : "image/*"])
            #expect(answer.status == 202 && answer["Retry-After"] == "1")
            #expect(try answer.json["job"] == 2)
        }
        #expect(try await bench.get(path, ["Accept": "image/*"]).text.contains("width=\"320\" height=\"240\""))
        try await bench.discard(worker)
        for ending in ["", ".json"] { #expect(try await bench.get(path + ending).json["code"] == "image.corrupt") }
        var retention = Retention.forever
        retention.discarded = .zero
        let turn = try #require(try await bench.store.maintenanceTurn())
        #expect(try await bench.store.prune(retention, in: turn).jobs == 1)
        for ending in ["", ".json"] {
            let later = try await bench.get(path + ending)
            #expect((later.status, try later.json["code"]) == (422, "image.corrupt"))
        }

        let unknown = try await bench.get("/thumb/\(String(repeating: "0", count: 32))")
        #expect((unknown.status, unknown["Cache-Control"]) == (404, "no-store"))
    }

    @Test func factsOfAThumbnailAreForReaders() async throws {
        let bench = try await WebBench(tokens: ["viewer": "read"])
        let id = try await bench.makeThumbnail(picture)
        let facts = try await bench.get("/thumb/\(id).json").json
        #expect(facts["thumbnail"]["width"] == 64 && facts["thumbnail"]["uri"] == .string("cameo://thumb/\(id)"))
        #expect(facts["source"] == .null && facts["thumbnail"]["source"] == .null)
        #expect(try await bench.get("/thumbs").status == 401)
        let reader = WebBench.bearer("viewer")
        guard case .string(let digest) = try await bench.get("/thumb/\(id).json", reader).json["sourceDigest"] else {
            throw CancellationError()
        }
        #expect(try await bench.get("/thumbs", reader).json["thumbnails"] != .array([]))
        for (query, isFound) in [
            ("label=none", false), ("each=source", true), ("each=source&search=no%20such", false),
            ("beside=\(id)", true), ("sameAs=\(id)", true), ("sameAs=cameo://thumb/\(id)", true),
            ("sameAs=cameo://blob/sha256-\(digest)", true), ("sameAs=\(String(repeating: "0", count: 32))", false),
            ("each=source&search=example&cursor=9999999999999-0-\(id)", true),
            ("each=source&cursor=0-0-\(id)", false),
        ] {
            let page = try await bench.get("/thumbs?\(query)", reader)
            #expect(page.status == 200 && page.text.contains("cameo://thumb/\(id)") == isFound, "\(query)")
        }
        for query in [
            "limit=0", "cursor=x", "digest=0", "since=then", "source=\(String(repeating: "x", count: 501))", "no=1",
            "search=\(String(repeating: "x", count: 501))", "each=job", "beside=7", "sameAs=7",
            "each=source&cursor=\(id)",
        ] {
            #expect(try await bench.get("/thumbs?\(query)", reader).status == 400, "\(query)")
        }
        #expect(try await bench.get("/thumb/\(String(repeating: "0", count: 32)).json").status == 404)
    }

    @Test func whatIsNotMadeYetIsToldOf() async throws {
        let receipt = try await bench.enqueue(Rendition(width: 300, height: 200, fit: .cover))
        let job = try #require(receipt.id)
        let asProgram = try await bench.get("\(receipt.path)?job=\(job)", ["Accept": "*/*"])
        #expect(asProgram.status == 202)
        #expect(asProgram["Retry-After"] == "1")
        #expect(asProgram["Cache-Control"] == "no-store")
        #expect(try asProgram.json["state"] == "available")
        let asBrowser = try await bench.get("\(receipt.path)?job=\(job)", ["Accept": "image/avif,image/webp,*/*;q=0.8"])
        #expect(asBrowser.status == 202)
        #expect(asBrowser["Content-Type"] == "image/svg+xml")
        #expect(asBrowser.text.contains("width=\"300\" height=\"200\""))
        #expect(try await bench.get("\(receipt.path)?box=40x30", ["Accept": "image/*"]).text.contains("width=\"40\""))
        #expect(try await bench.get("\(receipt.path)").status == 202)
        #expect(try await bench.get("/thumb/\(String(repeating: "0", count: 32))?job=\(job)").status == 404)
        #expect(try await bench.get("\(receipt.path)?job=999").status == 404)
    }

    @Test func aWaitEndsWithTheThumbnail() async throws {
        let receipt = try await bench.enqueue(Rendition(width: 64))
        let worker = try await bench.register()
        async let answer = bench.wait("\(receipt.path)?wait=30s")
        try await bench.work(worker, with: picture)
        #expect(try await answer.status == 200)
        #expect(try await answer.body == picture)
    }

    @Test func aWaitEndsWithTheJobsFailure() async throws {
        let receipt = try await bench.enqueue(Rendition(width: 64))
        let worker = try await bench.register()
        async let answer = bench.wait("\(receipt.path)?job=\(try #require(receipt.id))&wait=30s")
        try await bench.discard(worker)
        #expect(try await answer.status == 422)
        #expect(try await answer.json["code"] == "image.corrupt")
        #expect(try await answer["Content-Type"] == "application/problem+json")
    }

    @Test func aPlaceholderIsAPicture() async throws {
        let id = try await bench.makeThumbnail(picture)
        let answer = try await bench.get("/placeholder/\(id)")
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "image/png")
        // The reference decoder gives this hash 23 × 32 pixels.
        #expect(answer.body.dropFirst(16).prefix(8) == Data([0, 0, 0, 23, 0, 0, 0, 32]))
        #expect(try await bench.get("/placeholder/\(id)", ["If-None-Match": answer["ETag"] ?? ""]).status == 304)
        #expect(try await bench.get("/placeholder/\(String(repeating: "0", count: 32))").status == 404)
    }

    /// What players read beside a storyboard's sheet.
    @Test func aStoryboardHasATrackThatNamesItsSheet() async throws {
        var rendition = Rendition(width: 32)
        rendition.storyboard = Rendition.Storyboard(columns: 2, rows: 2)
        let receipt = try await bench.enqueue(rendition)
        guard case .thumbnail(let id) = receipt.thumbnails[0].uri else { throw CancellationError() }
        #expect(try await bench.get("/thumb/\(id).vtt").status == 404)
        try await bench.work(try await bench.register(), with: WebBench.picture())
        #expect(try await bench.get("/thumb/\(id).vtt").status == 404, "its source is a picture")
        let facts = #"{"duration":10,"codec":"h264","rotation":0,"hasAudio":false}"#
        try await bench.sql("UPDATE thumbnail SET source_video = '\(facts)';")
        let answer = try await bench.get("/thumb/\(id).vtt")
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "text/vtt; charset=utf-8")
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.hasPrefix("WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n\(id).webp#xywh=0,0,32,24\n\n"), "\(text)")
        #expect(text.hasSuffix("00:00:07.500 --> 00:00:10.000\n\(id).webp#xywh=32,24,32,24\n"), "\(text)")
        #expect(try await bench.get("/thumb/\(id).vtt", ["If-None-Match": answer["ETag"] ?? ""]).status == 304)
        #expect(try await bench.get("/thumb/\(id).webp").status == 200)
        #expect(try await bench.get("/thumb/xyz.vtt").status == 404)
    }

    @Test(arguments: [
        ("/thumb/", 404), ("/thumb", 404), ("/thumb/xyz", 404), ("/thumb/../../etc/passwd", 404),
        ("/thumb/%2e%2e%2f%2e%2e%2fetc%2fpasswd", 404), ("/blob/sha256-..%2f..%2fcameo.sqlite", 404),
        ("/blob/cameo.sqlite", 404), ("/source/%00", 400), ("/source/%zz", 400), ("/source/%ff%fe", 400),
        ("/source/..%2f..%2fcameo.sqlite", 404), ("/../../etc/passwd", 404), ("//thumb/x", 404), ("/nothing", 404),
        ("/thumb/00000000000000000000000000000000?wait=31s", 400),
        ("/thumb/00000000000000000000000000000000?wait=-1", 400),
        ("/thumb/00000000000000000000000000000000?wait=nan", 400),
        ("/thumb/00000000000000000000000000000000?wait=%zz", 400),
        ("/source/x?wiat=1", 400), ("/source/x?%zz", 400), ("/jobs?a=%ff", 400), ("/health/live?v=2", 400),
        ("/thumb/00000000000000000000000000000000?wait=0&wait=0", 400),
        ("/thumb/00000000000000000000000000000000?job=0", 400),
        ("/thumb/00000000000000000000000000000000?box=0x0", 400),
        ("/blob/sha256-0000000000000000000000000000000000000000000000000000000000000000", 404),
        ("http://localhost/thumb/00000000000000000000000000000000", 404),
    ])
    func onlyNamesLeadAnywhere(target: String, status: Int) async throws {
        let answer = try await bench.get(target)
        #expect(answer.status == status)
        if status >= 400 {
            #expect(answer["Content-Type"] == "application/problem+json")
            #expect(try answer.json["status"] == .integer(Int64(status)))
        }
    }

    /// Sites and social networks append items to every URL.
    @Test func whatOthersAppendToAPicturesURLIsIgnoredAndNamed() async throws {
        let id = try await bench.makeThumbnail(picture)
        for path in ["/thumb/\(id)", "/blob/\(BlobDigest(of: picture))", "/placeholder/\(id)"] {
            let answer = try await bench.get(path + "?v=2&utm_source=a&fbclid=%ff&v=3&a%0d%0ab%c3%a4&%zz")
            #expect(answer.status == 200, "\(path)")
            #expect(answer["Cameo-Ignored-Query"] == "v, utm_source, fbclid, v, a%0D%0Ab%C3%A4, %25zz")
            #expect(try await bench.get(path)["Cameo-Ignored-Query"] == nil)
        }
        let pending = try await bench.get("/thumb/\(String(repeating: "0", count: 32))?wiat=1&box=40x30")
        #expect(pending.status == 404 && pending["Cameo-Ignored-Query"] == "wiat")
    }

    @Test func onlyWhatReadsIsAllowed() async throws {
        for method in ["POST", "PUT", "OPTIONS", "TRACE"] {
            let answer = try await bench.send(method, "/thumb/00000000000000000000000000000000")
            #expect(answer.status == 405)
            #expect(answer["Allow"] == "GET, HEAD, DELETE")
        }
    }

    @Test func aBasePathStandsBeforeAllOthers() async throws {
        let bench = try await WebBench { $0.basePath = "/cameo" }
        let id = try await bench.makeThumbnail(picture)
        #expect(try await bench.get("/cameo/thumb/\(id)").status == 200)
        #expect(try await bench.get("/thumb/\(id)").status == 404)
        #expect(try await bench.get("/cameothumb/\(id)").status == 404)
    }
}
