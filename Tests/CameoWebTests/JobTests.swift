import CameoModel
import CameoReport
import CameoSQLite
import CameoStore
import CameoWeb
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Jobs over HTTP.
@Suite(.timeLimit(.minutes(10)))
struct JobTests {
    private static let names = ["viewer", "producer", "operator", "hashed", "stopper"]
    private let bench: WebBench
    private let picture = WebBench.picture()

    init() async throws {
        bench = try await WebBench { configuration in
            configuration.tokens = try AccessTokens(
                parsing: """
                    # who does what
                    viewer   read          viewer-0123456789abcdef
                    producer read,enqueue  producer-0123456789abcdef

                    operator read,operate  operator-0123456789abcdef
                    stopper  operate       stopper-0123456789abcdef
                    hashed   enqueue       \(BlobDigest(of: Array("hashed-0123456789abcdef".utf8)))
                    """
            )
        }
    }

    private func bearer(_ name: String) -> [String: String] {
        Self.names.contains(name) ? WebBench.bearer(name) : ["Authorization": "Bearer \(name)"]
    }

    private func json(_ name: String = "producer") -> [String: String] {
        bearer(name).merging(["Content-Type": "application/json"]) { $1 }
    }

    private let request = Data(
        #"{"source":"https://example.com/a.png","renditions":[{"width":64}],"headers":{"Authorization":"secret"}}"#.utf8
    )

    @Test func aRequestBecomesAJob() async throws {
        let answer = try await bench.send("POST", "/jobs", json(), body: request)
        #expect(answer.status == 201, "\(answer.text)")
        #expect(answer["Location"] == "/jobs/1")
        let receipt = try WireFormat.decode(EnqueueReceipt.self, from: answer.body)
        #expect(receipt.outcome == .accepted)
        let job = try await bench.get("/jobs/1", bearer("viewer"))
        #expect(job.status == 200)
        #expect(try job.json["state"] == "available")
        // What may be a password is not told.
        #expect(!job.text.contains("secret"))
        guard case .array(let thumbnails) = try job.json["thumbnails"], case .string(let url) = thumbnails[0]["url"]
        else {
            throw RawAnswer.Malformed(text: job.text)
        }
        #expect(url.hasPrefix("/thumb/") && url.hasSuffix("?job=1"))
        #expect(try await bench.get(url).status == 202)
        #expect(try await bench.send("POST", "/jobs", json(), body: request).json["outcome"] == "joined")
    }

    @Test func aPictureBecomesAJobAndThumbnails() async throws {
        let headers = bearer("producer").merging(["Content-Type": "image/webp"]) { $1 }
        let target = "/jobs?size=64x64:cover,x32:jpeg:q70&batch=b&queue=fast&priority=5"
        let answer = try await bench.send("POST", target, headers, body: picture)
        #expect(answer.status == 201, "\(answer.text)")
        #expect(try answer.json["batch"] == "b")
        #expect(try answer.json["source"] == .string(CameoURI.blob(BlobDigest(of: picture)).text))
        let worker = try await bench.register()
        async let ended = bench.wait("/jobs/1?wait=30s", bearer("viewer")) {
            try [JSONValue.string("available"), .string("running")].contains($0.json["state"])
        }
        try await bench.work(worker, with: picture)
        #expect(try await ended.json["state"] == "completed")
        guard case .array(let thumbnails) = try await ended.json["thumbnails"] else { return }
        #expect(thumbnails.count == 2)
        for thumbnail in thumbnails {
            guard case .string(let url) = thumbnail["url"], case .string(let blob) = thumbnail["blobURL"] else {
                throw RawAnswer.Malformed(text: "\(thumbnail)")
            }
            #expect(try await bench.get(url).body == picture)
            #expect(try await bench.get(blob).body == picture)
        }
    }

    private func form(_ parts: [(String, Data)], boundary: String = "xYz") -> Data {
        var body = Data()
        for (name, data) in parts {
            body += Data(
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"x\"\r\n\r\n".utf8
            )
            body += data + Data("\r\n".utf8)
        }
        return body + Data("--\(boundary)--\r\n".utf8)
    }

    @Test func aFormIsTakenAsBrowsersSendIt() async throws {
        let headers = bearer("producer").merging(["Content-Type": "multipart/form-data; boundary=\"xYz\""]) { $1 }
        // The bytes of a picture may have anything in them.
        let tricky = picture + Data("\r\n--xY\r\n--xYz2\r\n--xYz-\r\n--xYz--2\r\n\r\n--".utf8)
        let fields = [("picture", tricky), ("preset", Data("gallery".utf8)), ("key", Data("user:1".utf8))]
        let answer = try await bench.send("POST", "/jobs", headers, body: form(fields))
        #expect(answer.status == 201, "\(answer.text)")
        #expect(try answer.json["source"] == "cameo://source/user%3A1")
        #expect(try await bench.store.data(of: .source("user:1")) == tricky)
        let whole = [("request", Data(#"{"renditions":[{"width":9}],"batch":"c"}"#.utf8)), ("picture", picture)]
        #expect(try await bench.send("POST", "/jobs", headers, body: form(whole)).json["batch"] == "c")
        for (parts, status) in [
            ([("size", Data("9x9".utf8))], 422), ([("picture", picture), ("picture", picture)], 400),
            ([("picture", picture), ("colour", Data())], 400), ([("picture", Data())], 422),
            ([("picture", picture), ("request", Data("{}".utf8))], 422),
            (
                [
                    ("picture", picture), ("request", Data(#"{"renditions":[{"width":9}]}"#.utf8)),
                    ("size", Data("9x9".utf8)),
                ], 400
            ),
        ] {
            let answer = try await bench.send("POST", "/jobs", headers, body: form(parts))
            #expect(answer.status == status, "\(parts.map(\.0)): \(answer.text)")
        }
        for body in ["", "--xYz", "--xYz\r\n\r\n", "--xYz\r\nA: b\r\n\r\nx\r\n--xYz--", "nothing"] {
            #expect(try await bench.send("POST", "/jobs", headers, body: Data(body.utf8)).status == 400, "\(body)")
        }
    }

    @Test func aJobShowsNoSecrets() async throws {
        let overlay = #""overlay":{"source":"http://o:hunter2@h/w@2x.png"}"#
        for source in ["https://u:hunter2@example.com/a@2x.png", "cameo://source/https%3A%2F%2Fu%3Ahunter2%40h%2F"] {
            let body = #"{"source":"\#(source)","headers":{"X-A":"hunter2"},"renditions":[{"width":64,\#(overlay)}]}"#
            #expect(try await bench.send("POST", "/jobs", json(), body: Data(body.utf8)).status == 201)
        }
        // What no request may be is shown to those who look for the reason.
        try await bench.sql(
            #"INSERT INTO job(request) VALUES (json('{"source":"a","renditions":[{}],"headers":["X-A: hunter2"]}'));"#
        )
        try await bench.discard(try await bench.register())
        for path in ["/jobs", "/jobs/1", "/jobs/2", "/jobs/3", "/failures", "/status"] {
            let answer = try await bench.get(path, bearer("viewer"))
            #expect(answer.status == 200 && !answer.text.contains("hunter2"), "\(path): \(answer.text)")
        }
        let request = try await bench.get("/jobs/1", bearer("viewer")).json["request"]
        #expect(request["source"] == "https://…@example.com/a@2x.png")
        #expect(request["headers"] == ["X-A": "…"])
    }

    /// A failure may name files, addresses and signed URLs.
    @Test func strangersAreToldTheCodeOfAFailureAlone() async throws {
        let receipt = try await bench.enqueue(Rendition(width: 64))
        try await bench.discard(try await bench.register(), .sourceUnreachable)
        let path = "\(receipt.path)?job=\(try #require(receipt.id))"
        for target in [path, path + "&wait=1s"] {
            for headers in [[:], bearer("hashed"), bearer("unknown")] {
                let answer = try await bench.get(target, headers)
                #expect(answer.status == 502)
                #expect(try answer.json["code"] == "source.unreachable")
                #expect(!answer.text.contains("as the test wants it"))
            }
            #expect(try await bench.get(target, bearer("viewer")).text.contains("as the test wants it"))
        }
        try await bench.sql("ALTER TABLE task RENAME TO gone;")
        let other = "/thumb/\(String(repeating: "0", count: 32))?job=1"
        for path in [other, "/health/ready", "/blob/sha256-\(String(repeating: "0", count: 64))"] {
            let (stranger, reader) = (try await bench.get(path), try await bench.get(path, bearer("viewer")))
            #expect(stranger.status == reader.status)
            #expect(
                !stranger.text.contains("task") && !stranger.text.contains(bench.folder.path("")),
                "\(stranger.text)"
            )
            if path == "/health/ready" { #expect(reader.text.contains("task")) }
        }
    }

    @Test func whoMayOnlyOperateSeesNoJob() async throws {
        for change in ["cancel", "retry"] {
            #expect(try await bench.send("POST", "/jobs", json(), body: request).status == 201)
            let answer = try await bench.send("POST", "/jobs/1/\(change)", bearer("stopper"))
            #expect(answer.status == 200, "\(answer.text)")
            #expect(try answer.json["state"] != .null && !answer.text.contains("example.com"))
        }
        let answer = try await bench.send("POST", "/jobs/1/cancel", bearer("operator"))
        #expect(try answer.json["request"]["source"] == "https://example.com/a.png")
    }

    @Test func whatStandsInTheWrongPlaceIsToldTheRightOne() async throws {
        let form = form([("picture", picture)])
        for (type, body, words) in [
            ("multipart/form-data; boundary=xYz", form, "in a form, send it as a field"),
            ("application/json", Data("{}".utf8), "in JSON, it is part of the request"),
        ] {
            let headers = bearer("producer").merging(["Content-Type": type]) { $1 }
            for name in ["preset", "size", "queue", "key"] {
                let answer = try await bench.send("POST", "/jobs?\(name)=gallery", headers, body: body)
                #expect(
                    answer.status == 400 && answer.text.contains(words) && answer.text.contains(name),
                    "\(answer.text)"
                )
            }
            let answer = try await bench.send("POST", "/jobs?colour=red", headers, body: body)
            #expect(answer.status == 400 && answer.text.contains("unknown query item"), "\(answer.text)")
        }
    }

    @Test func aFormsQuotedWordsMayHaveAnythingInThem() async throws {
        let type = #"multipart/form-data; boundary="x; y=\"z""#
        func post(_ field: String, _ extra: String = "") async throws -> RawAnswer {
            let head = #"--x; y="z"# + " \r\nContent-Disposition: form-data; \(field)\r\n\(extra)\r\n"
            let tail = "\r\n" + #"--x; y="z--"#
            let headers = bearer("producer").merging(["Content-Type": type]) { $1 }
            return try await bench.send("POST", "/jobs", headers, body: Data(head.utf8) + picture + Data(tail.utf8))
        }
        for field in [
            #"name="picture"; filename="x; name=evil.png""#, #"filename="a\"b; name=\"c"; name=picture"#,
            #"name="picture"; name="request""#,
        ] {
            let answer = try await post(field)
            #expect(answer.status == 201, "\(field): \(answer.text)")
        }
        #expect(try await bench.store.data(of: .blob(BlobDigest(of: picture))) == picture)
        #expect(try await post("name=picture", "Content-Transfer-Encoding: binary\r\n").status == 201)
        for coding in ["Content-Transfer-Encoding: base64", "content-encoding: gzip"] {
            #expect(try await post("name=picture", coding + "\r\n").status == 415)
        }
    }

    /// Nothing decodes or completes a body.
    @Test func aCodedOrPartialBodyIsRefused() async throws {
        for (headers, status) in [
            (["Content-Encoding": "gzip"], 415), (["Content-Encoding": "identity, br"], 415),
            (["Content-Encoding": "aws-chunked"], 415), (["Transfer-Encoding": "gzip, chunked"], 415),
            (["Content-Range": "bytes 0-9/20"], 400), (["Content-Encoding": "Identity"], 201),
        ] {
            for type in ["image/webp", "application/json", "multipart/form-data; boundary=xYz"] {
                var (all, body) = (bearer("producer").merging(headers) { $1 }, picture)
                all["Content-Type"] = type
                if type == "application/json" {
                    body = Data(#"{"source":"initials:AB","renditions":[{"width":9}]}"#.utf8)
                }
                if type.hasPrefix("multipart") { body = form([("picture", picture)]) }
                let answer: RawAnswer
                if headers["Transfer-Encoding"] == nil {
                    answer = try await bench.send("POST", "/jobs", all, body: body)
                } else {
                    let chunk = Data("\(String(body.count, radix: 16))\r\n".utf8) + body + Data("\r\n0\r\n\r\n".utf8)
                    let head = "POST /jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    let fields = all.map { "\($0): \($1)\r\n" }.joined()
                    answer = try await bench.exchange(Data("\(head)\(fields)\r\n".utf8) + chunk)
                }
                #expect(answer.status == status, "\(headers) \(type): \(answer.text)")
                if status == 415 { #expect(answer["Accept-Encoding"] == "identity") }
            }
        }
        let limit = ["Content-Encoding": "gzip"].merging(bearer("operator")) { $1 }
        let body = Data(#"{"concurrency":4}"#.utf8)
        #expect(try await bench.send("POST", "/queues/default/limit", limit, body: body).status == 415)
    }

    @Test(arguments: [
        ("/jobs?size=9", 400, "not a rendition"), ("/jobs?size=9x9:purple", 400, "not a fit, format or quality"),
        ("/jobs?size=99999x1", 422, "width"), ("/jobs?preset=nothing", 400, "unknown size or preset"),
        ("/jobs?priority=high", 422, "priority"), ("/jobs?queue=A%20B", 422, "queue"),
        ("/jobs?colour=red", 400, "colour"),
        ("/jobs?key=https://example.com/", 422, "cacheKey"),
    ])
    func whatIsAskedForIsChecked(target: String, status: Int, words: String) async throws {
        let headers = bearer("producer").merging(["Content-Type": "image/png"]) { $1 }
        let answer = try await bench.send("POST", target, headers, body: picture)
        #expect(answer.status == status)
        #expect(answer.text.contains(words), "\(answer.text)")
    }

    @Test(arguments: [
        ("", 422, "malformed JSON"), ("[]", 422, "must be an object"), ("{}", 422, "source"),
        (#"{"source":"https://example.com/","renditions":[{"width":0}]}"#, 422, "renditions[0].width"),
        (#"{"source":"upload:1","renditions":[{"width":9}]}"#, 422, "source"),
    ])
    func aRequestIsCheckedByItsField(body: String, status: Int, words: String) async throws {
        let answer = try await bench.send("POST", "/jobs", json(), body: Data(body.utf8))
        #expect(answer.status == status)
        #expect(answer["Content-Type"] == "application/problem+json")
        #expect(try answer.json["code"] == "request.invalid")
        #expect(answer.text.contains(words), "\(answer.text)")
    }

    @Test func tokensAllowWhatTheirScopesSay() async throws {
        _ = try await bench.send("POST", "/jobs", json(), body: request)
        let table: [(String, String, String?, Int)] = [
            ("GET", "/jobs", nil, 401), ("GET", "/jobs/1", nil, 401), ("GET", "/status", nil, 401),
            ("GET", "/failures", nil, 401), ("GET", "/source/x", nil, 401),
            ("GET", "/jobs", "viewer", 200), ("GET", "/status", "viewer", 200), ("GET", "/source/x", "viewer", 404),
            ("GET", "/jobs", "hashed", 403), ("GET", "/jobs", "wrong-0123456789abcdef", 401),
            ("GET", "/jobs", "viewer-0123456789abcde", 401), ("GET", "/jobs", "", 401),
            ("GET", "/jobs", "   viewer-0123456789abcdef", 200), ("GET", "/jobs", "  viewer-0123456789abcde", 401),
            ("POST", "/jobs", nil, 401), ("POST", "/jobs", "viewer", 403), ("POST", "/jobs", "operator", 403),
            ("POST", "/jobs", "hashed", 201), ("POST", "/jobs/1/cancel", "producer", 403),
            ("POST", "/jobs/1/cancel", "operator", 200), ("POST", "/jobs/1/retry", "operator", 200),
            ("POST", "/jobs/99/retry", "operator", 404), ("GET", "/jobs/1/retry", "operator", 405),
            ("DELETE", "/jobs/1", "operator", 405), ("POST", "/jobs/1/forget", "operator", 404),
        ]
        for (method, target, name, status) in table {
            var headers = name.map(bearer) ?? [:]
            headers["Content-Type"] = "application/json"
            let answer = try await bench.send(method, target, headers, body: method == "POST" ? request : nil)
            #expect(answer.status == status, "\(method) \(target) \(name ?? "-"): \(answer.text)")
            if status == 401 { #expect(answer["WWW-Authenticate"]?.hasPrefix("Bearer") == true) }
        }
        #expect(try await bench.get("/access").json == ["read": false, "enqueue": false, "operate": false])
        #expect(
            try await bench.get("/access", bearer("operator")).json == [
                "read": true, "enqueue": false, "operate": true, "name": "operator",
            ]
        )
        // Pictures and health need none.
        #expect(try await bench.get("/health/live").status == 200)
        #expect(try await bench.get("/metrics").status == 200)
    }

    /// Read by Python, which checks every sum; HTTP/1.0 has no chunks.
    @Test func theThumbnailsOfABatchComeAsOneFile() async throws {
        var requests = ["a%20b.png?v=1", "b/..%2Fc.png", "c.png"].map { name in
            ThumbnailRequest(source: "https://example.com/\(name)", renditions: [Rendition(width: 64)], batch: "ä b")
        }
        // The same picture in another size, whose rendition has the name of the first.
        requests.append(
            ThumbnailRequest(
                source: "https://example.com/c.png",
                renditions: [Rendition(name: "64x", width: 65)],
                batch: "ä b"
            )
        )
        let ids = try await bench.store.enqueue(requests).map { $0.thumbnails[0].uri.text.suffix(32) }
        #expect(try await bench.get("/batches/%C3%A4%20b?as=zip", bearer("viewer")).status == 404)
        let worker = try await bench.register()
        try await bench.work(worker, with: picture)
        _ = try await bench.store.enqueue([
            ThumbnailRequest(source: "https://example.com/later", renditions: [Rendition(width: 64)], batch: "ä b")
        ])
        let line = "Authorization: Bearer viewer-0123456789abcdef"
        let target = "/batches/%C3%A4%20b?as=zip"
        let answer = try await bench.exchange(Data("GET \(target) HTTP/1.0\r\n\(line)\r\n\r\n".utf8))
        #expect(answer.status == 200 && answer["Content-Type"] == "application/zip")
        #expect(
            answer["Content-Disposition"]
                == "attachment; filename=\"_ b.zip\"; filename*=UTF-8''%C3%A4%20b.zip"
        )
        let second = max(ids[2], ids[3]).prefix(8)
        let expected = ["a_b", "b/___c", "c", "c-\(second)"].map { "example.com/\($0).64x.webp" }
        let listed = expected.map { "\($0) \(picture.count)" }
        #expect(try await Self.files(in: answer.body).sorted() == listed.sorted())
        // And unpacked, whose owner can read them.
        let folder = try TemporaryFolder()
        let path = try folder.write(answer.body, to: "batch.zip")
        let unpacked = try await run(
            "unzip",
            ["-q", path, "-d", folder.path("files")],
            environment: ["LC_ALL": "C.UTF-8"]
        )
        #expect(unpacked.exitStatus == 0, "\(unpacked.errorText)")
        for name in expected {
            #expect(FileManager.default.contents(atPath: folder.path("files/\(name)")) == picture, "\(name)")
            let rights = try FileManager.default.attributesOfItem(atPath: folder.path("files/\(name)"))
            #expect((rights[.posixPermissions] as? Int).map { $0 & 0o400 } == 0o400)
        }
        let none = try await bench.get("/batches/none?as=zip", bearer("viewer"))
        #expect(try (none.status, none.json["detail"]) == (404, "there is no thumbnail of a batch none"))
        #expect(try await bench.get("/batches/%C3%A4%20b?as=tar", bearer("viewer")).status == 400)
        #expect(try await bench.get(target).status == 401)

        // As an export does.
        var export = try Export(to: folder.path("export"), from: bench.store)
        try await bench.store.forEachThumbnail(ThumbnailFilter()) { try await export.write($0) }
        for name in expected {
            #expect(FileManager.default.contents(atPath: folder.path("export/\(name)")) == picture, "\(name)")
        }

        for id in 1...5 { _ = try? await bench.store.cancel(Int64(id)) }
        var retention = Retention.forever
        (retention.completed, retention.cancelled) = (.zero, .zero)
        let turn = try #require(try await bench.store.maintenanceTurn())
        #expect(try await bench.store.prune(retention, in: turn).jobs == 5)
        let gone = try await bench.get("/batches/%C3%A4%20b", bearer("viewer"))
        #expect(gone.status == 404 && gone.text.contains("/thumbs?batch=%C3%A4%20b and \(target)"), "\(gone.text)")
        let later = try await bench.exchange(Data("GET \(target) HTTP/1.0\r\n\(line)\r\n\r\n".utf8))
        #expect(try await Self.files(in: later.body).sorted() == listed.sorted())
    }

    @Test func aBatchIsSealedByThoseWhoMayEnqueue() async throws {
        let path = "/batches/%C3%A4%2Fb/seal"
        func seal(_ body: String, by name: String = "producer") async throws -> RawAnswer {
            try await bench.send("POST", path, json(name), body: Data(body.utf8))
        }
        #expect(try await seal("{}", by: "viewer").status == 403)
        let refused = try await seal(#"{"hook":"No hook"}"#)
        #expect(refused.status == 422 && refused.text.contains("hook"), "\(refused.status) \(refused.text)")
        #expect(try await seal(#"{"hooks":"site"}"#).status == 422)
        #expect(try await seal(#"{"hook":"site"}"#).status == 202)
        try await bench.store.endSealedBatches()
        let report = try await bench.get("/batches/%C3%A4%2Fb", bearer("viewer"))
        let end = try report.json["end"]
        #expect(end["hook"] == "site" && end["number"] == 1, "\(report.text)")
        #expect(try await bench.send("POST", "/batches/b", json()).status == 405)
    }

    /// More files than 16 bits can count, and one that begins with a hole of 5 GiB.
    @Test(arguments: [(UInt64(0), 65_536), (5 << 30, 2)])
    func aLargeArchiveCanBeRead(start: UInt64, count: Int) async throws {
        var archive = ZIPArchive(at: start)
        var data = Data()
        for index in 0..<count { data += archive.add(Data("x".utf8), named: "\(index)") + Data("x".utf8) }
        let names = try await Self.files(in: data + archive.end, at: start)
        #expect(names.count == count && names.last == "\(count - 1) 1")
    }

    private static func files(in archive: Data, at offset: UInt64 = 0) async throws -> [String] {
        let folder = try TemporaryFolder()
        let path = folder.path("batch.zip")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: archive)
        try file.close()
        let script = """
            import sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            assert archive.testzip() is None
            for one in archive.infolist(): print(one.filename, one.file_size)
            """
        let environment = ["PYTHONIOENCODING": "utf-8"]
        let result = try await run("/usr/bin/python3", ["-c", script, path], environment: environment)
        #expect(result.exitStatus == 0, "\(result.errorText)")
        return result.outputText.split(separator: "\n").map(String.init)
    }

    /// No script can read the cookie, and no page of another site, port or name can have it sent along.
    @Test func theDashboardSignsInWithACookie() async throws {
        #expect(try await bench.send("POST", "/access", bearer("viewer-0123456789abcde")).status == 401)
        #expect(try await bench.send("POST", "/access").status == 401)
        let signedIn = try await bench.send("POST", "/access", bearer("operator"))
        #expect(try signedIn.json["name"] == "operator")
        let field = try #require(signedIn["Set-Cookie"])
        #expect(field.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        let cookie = ["Cookie": "theme=dark; \(field.prefix { $0 != ";" })"]
        let table: [(method: String, target: String, headers: [String: String], status: Int)] = [
            ("GET", "/jobs", [:], 200), ("GET", "/jobs", ["Sec-Fetch-Site": "same-origin"], 200),
            ("GET", "/jobs", ["Sec-Fetch-Site": "none"], 200), ("GET", "/jobs", ["Sec-Fetch-Site": "same-site"], 401),
            ("GET", "/jobs", ["Sec-Fetch-Site": "cross-site"], 401),
            ("GET", "/jobs", ["Origin": "http://localhost:9"], 401),
            ("POST", "/jobs/99/retry", [:], 401), ("POST", "/jobs/99/retry", ["Sec-Fetch-Site": "same-origin"], 404),
            ("POST", "/jobs/99/retry", ["Sec-Fetch-Site": "same-site", "Origin": "http://localhost"], 401),
            ("POST", "/jobs/99/retry", ["Sec-Fetch-Site": "none"], 401),
            ("POST", "/jobs/99/retry", ["Origin": "http://localhost"], 404),
            ("POST", "/jobs/99/retry", ["Origin": "https://LOCALHOST"], 404),
            ("POST", "/jobs/99/retry", ["Origin": "http://localhost:9"], 401),
            ("POST", "/jobs/99/retry", ["Origin": "null"], 401),
        ]
        for (method, target, headers, status) in table {
            let answer = try await bench.send(method, target, headers.merging(cookie) { $1 })
            #expect(answer.status == status, "\(method) \(target) \(headers): \(answer.text)")
        }
        // What the header has goes first.
        #expect(try await bench.get("/jobs", bearer("viewer-0123456789abcde").merging(cookie) { $1 }).status == 401)
        let encrypted = try await bench.send(
            "POST",
            "/access",
            bearer("operator").merging(["Origin": "https://localhost"]) { $1 }
        )
        #expect(encrypted["Set-Cookie"]?.hasSuffix("; Secure") == true)
        let signedOut = try await bench.send("DELETE", "/access", cookie)
        #expect(signedOut["Set-Cookie"]?.hasPrefix("cameo=; ") == true)
        #expect(signedOut["Set-Cookie"]?.contains("; Max-Age=0") == true)
    }

    @Test func withoutTokensNobodyWrites() async throws {
        let open = try await WebBench()
        #expect(try await open.get("/jobs").status == 200)
        #expect(try await open.get("/access").json == ["read": true, "enqueue": false, "operate": false])
        #expect(try await open.send("POST", "/jobs", json(), body: request).status == 403)
        #expect(try await open.send("POST", "/jobs/1/cancel").status == 403)
    }

    @Test func listsHavePages() async throws {
        for index in 0..<5 {
            _ = try await bench.store.enqueue([
                ThumbnailRequest(
                    source: "https://example.com/\(index)",
                    renditions: [Rendition(width: 64)],
                    queue: index < 3 ? "a" : "b",
                    concurrencyKey: index == 1 ? "tenant" : nil,
                    labels: index < 2 ? ["user:42"] : []
                )
            ])
        }
        let first = try await bench.get("/jobs?limit=2", bearer("viewer"))
        #expect(try first.json["cursor"] == 4)
        let second = try await bench.get("/jobs?limit=4&cursor=4", bearer("viewer"))
        #expect(try second.json["cursor"] == .null)
        guard case .array(let jobs) = try second.json["jobs"] else { return }
        #expect(jobs.map { $0["id"] } == [3, 2, 1])
        for (query, count) in [
            ("queue=a", 3), ("queue=a,b", 0), ("state=available", 5), ("state=running,discarded", 0),
            ("source=https://example.com/1", 1), ("batch=x", 0), ("code=source.timeout", 0),
            ("label=user:42", 2), ("label=user", 0), ("concurrencyKey=tenant", 1), ("concurrencyKey=x", 0),
        ] {
            guard case .array(let jobs) = try await bench.get("/jobs?\(query)", bearer("viewer")).json["jobs"] else {
                throw RawAnswer.Malformed(text: query)
            }
            #expect(jobs.count == count, "\(query)")
        }
        for query in ["state=lost", "code=none", "limit=0", "limit=201", "cursor=x", "page=2"] {
            #expect(try await bench.get("/jobs?\(query)", bearer("viewer")).status == 400, "\(query)")
        }
    }

    @Test func failuresHaveACodeAndAnExample() async throws {
        let worker = try await bench.register()
        for code in [JobFailure.Code.imageCorrupt, .sourceNotFound, .imageCorrupt] {
            _ = try await bench.enqueue(Rendition(width: 64))
            try await bench.discard(worker, code)
        }
        let answer = try await bench.get("/failures", bearer("viewer"))
        guard case .array(let codes) = try answer.json["codes"] else { throw RawAnswer.Malformed(text: answer.text) }
        try #require(codes.map { $0["code"] } == ["image.corrupt", "source.notFound"])
        #expect(codes.map { $0["count"] } == [2, 1])
        #expect(codes[0]["example"]["id"] == 3)
    }

    /// Eleven jobs with one code may have as many reasons.
    @Test func eachReasonOfACodeHasItsExample() async throws {
        let worker = try await bench.register()
        let reasons = ["is not a picture", "has 17 bytes", "has 18 bytes", "is a PDF file, which no option allows"]
        for reason in reasons + reasons.prefix(2) {
            _ = try await bench.enqueue(Rendition(width: 64))
            try await bench.discard(worker, .imageUnsupportedFormat) { "\($0) \(reason)" }
        }
        let answer = try await bench.get("/failures", bearer("viewer"))
        guard case .array(let codes) = try answer.json["codes"], case .array(let found)? = codes.first?["reasons"]
        else {
            throw RawAnswer.Malformed(text: answer.text)
        }
        #expect(codes[0]["count"] == 6 && codes[0]["example"]["id"] == 6)
        #expect(found.map { $0["count"] } == [3, 2, 1])
        #expect(found.map { $0["example"]["id"] } == [6, 5, 4])
    }

    /// 502 says that somebody else's server failed.
    @Test func aFailureHasTheStatusOfWhoseItIs() async throws {
        let worker = try await bench.register()
        let statuses: [JobFailure.Code: Int] = [
            .sourceNotFound: 404, .sourceTooLarge: 413, .sourceTimeout: 502, .sourceUnreachable: 502,
            .sourceHTTPStatus: 502, .sourceChanged: 502, .storeFull: 507, .storeFailed: 503, .storeRefused: 503,
            .storeCancelled: 503, .workerLost: 503, .jobTimedOut: 503, .renderFormatUnavailable: 503,
        ]
        // A code of a newer version is none that a job is given.
        for code in JobFailure.Code.allCases where code != .unknown {
            let receipt = try await bench.enqueue(Rendition(width: 64))
            try await bench.discard(worker, code)
            let answer = try await bench.get("\(receipt.path)?job=\(try #require(receipt.id))")
            #expect(answer.status == statuses[code] ?? 422, "\(code)")
            #expect(try answer.json["code"] == .string(code.rawValue))
        }
    }

    @Test func aRepeatedRequestIsAnsweredByItsFirstReceipt() async throws {
        func post(_ body: Data, _ key: String, type: String = "application/json") async throws -> RawAnswer {
            let headers = bearer("producer").merging(["Content-Type": type, "Idempotency-Key": key]) { $1 }
            return try await bench.send("POST", "/jobs", headers, body: body)
        }
        let first = try await post(request, "order-7")
        #expect(first.status == 201, "\(first.text)")
        _ = try await bench.store.cancel(1)
        let again = try await post(request, "order-7")
        #expect(again.status == 201 && again.body == first.body && again["Location"] == first["Location"])
        // Without the key, or with another, it is a new job.
        #expect(try await post(request, "order-8").json["id"] == 2)
        let other = Data(#"{"source":"https://example.com/b.png","renditions":[{"width":64}]}"#.utf8)
        let reused = try await post(other, "order-7")
        #expect(reused.status == 422)
        #expect(try reused.json["field"] == "Idempotency-Key")
        let upload = try await post(picture, "photo", type: "image/webp")
        #expect(try await post(picture, "photo", type: "image/webp").body == upload.body)
        #expect(try await post(picture + [1], "photo", type: "image/webp").status == 422)
        for key in ["", "two words", String(repeating: "a", count: 256)] {
            #expect(try await post(request, key).status == 422, "\(key)")
        }
    }

    @Test(arguments: [
        "name read", "name read,fly 0123456789abcdef", "name read short", "name read sha256-xyz",
        "name  0123456789abcdef",
    ])
    func aTokenFileIsStrict(line: String) {
        #expect(throws: SecretFile.Malformed.self) { try AccessTokens(parsing: "# fine\n\(line)\n") }
    }
}
