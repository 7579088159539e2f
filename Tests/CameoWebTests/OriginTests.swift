import CameoModel
import CameoStore
import CameoSystem
import CameoWeb
import Foundation
import StoreConformance
import TestSupport
import Testing

/// What pages of other origins may read.
@Suite(.timeLimit(.minutes(10)))
struct OriginTests {
    private let picture = WebBench.picture()
    private let page = "https://www.example"
    private let always = ["cross-origin-resource-policy": "cross-origin", "access-control-expose-headers": "*"]

    private func bench(allowing origins: [String], tokens: KeyValuePairs<String, String> = [:]) async throws -> WebBench
    {
        try await WebBench(tokens: tokens) {
            $0.allowedOrigins = AllowedOrigins(try origins.map { try #require(Endpoint($0)) })
        }
    }

    private func fields(_ answer: RawAnswer) -> [String: String] {
        answer.headers.filter {
            $0.key.hasPrefix("access-control-") || ["timing-allow-origin", "vary"].contains($0.key)
                || $0.key == "cross-origin-resource-policy"
        }
    }

    /// Content, errors, 304, 206 and the dashboard, by the framework and at once.
    @Test(
        arguments: [
            ("/thumb/ID", [:], 200), ("/thumb/ID", ["If-None-Match": "TAG"], 304),
            ("/thumb/ID", ["Range": "bytes=0-9"], 206),
            ("/thumb/ID", ["Range": "bytes=90000-"], 416), ("/thumb/ID.jpg", [:], 404), ("/thumb/nonsense", [:], 404),
            ("/placeholder/ID", [:], 200), ("/status", [:], 200), ("/jobs/77", [:], 404), ("/jobs?limit=x", [:], 400),
            ("/thumb/00000000000000000000000000000000", [:], 404), ("/", [:], 200), ("/nothing", [:], 404),
            ("/thumb/ID", ["Expect": "x"], 417), ("/metrics", [:], 200),
        ] as [(String, [String: String], Int)]
    )
    func everyAnswerSaysWhoMayReadIt(path: String, headers: [String: String], status: Int) async throws {
        for origins in [[], [page, "http://other.example:8080"]] {
            let bench = try await bench(allowing: origins)
            let id = "\(try await bench.makeThumbnail(picture))"
            let (path, tag) = (path.replacing("ID", with: id), "\"\(BlobDigest(of: picture))\"")
            let headers = headers.mapValues { $0.replacing("TAG", with: tag) }
            let vary = status == 202 ? "Accept" : nil
            for origin in [page, "https://evil.example", nil] {
                for method in ["GET", "HEAD"] where method == "GET" || ![206, 416].contains(status) {
                    let more = origin.map { ["Origin": $0] } ?? [:]
                    let answer = try await bench.send(method, path, headers.merging(more) { $1 })
                    #expect(answer.status == status)
                    var wanted = always
                    if origins.isEmpty {
                        wanted["access-control-allow-origin"] = "*"
                        wanted["timing-allow-origin"] = "*"
                        wanted["vary"] = vary
                    } else {
                        wanted["access-control-allow-origin"] = origin == page ? page : nil
                        wanted["timing-allow-origin"] = "http://other.example:8080, \(page)"
                        wanted["vary"] = vary.map { "\($0), Origin" } ?? "Origin"
                    }
                    #expect(fields(answer) == wanted, "\(method) \(path) of \(origin ?? "nobody")")
                }
            }
        }
    }

    @Test func withoutTheOptionNothingIsSaidToThem() async throws {
        let bench = try await WebBench()
        let id = try await bench.makeThumbnail(picture)
        for _ in 0..<2 {
            #expect(fields(try await bench.get("/thumb/\(id)", ["Origin": page])).isEmpty)
        }
        let asking = ["Origin": page, "Access-Control-Request-Method": "POST"]
        #expect(try await bench.send("OPTIONS", "/thumb/\(id)", asking).status == 405)
    }

    /// Those that are answered on the connection's event loop, one after the other on one connection.
    @Test func noAnswerIsGivenAgainToAnotherOrigin() async throws {
        let bench = try await bench(allowing: [page, "http://other.example:8080"])
        let id = try await bench.makeThumbnail(picture)
        let tag = try #require(try await bench.get("/thumb/\(id)")["ETag"])
        let origins = [page, "http://other.example:8080", "https://evil.example", nil, "null", page]
        for condition in ["", "If-None-Match: \(tag)\r\n"] {
            let requests = (origins + [nil]).enumerated().map { index, origin in
                "GET /thumb/\(id) HTTP/1.1\r\nHost: localhost\r\n\(condition)"
                    + (origin.map { "Origin: \($0)\r\n" } ?? "")
                    + (index == origins.count ? "Connection: close\r\n" : "")
                    + "\r\n"
            }
            var rest = try await bench.exchange(Data(requests.joined().utf8))
            for origin in origins {
                #expect(rest.status == (condition.isEmpty ? 200 : 304))
                let allowed = origin.flatMap { [page, "http://other.example:8080"].contains($0) ? $0 : nil }
                #expect(rest["Access-Control-Allow-Origin"] == allowed, "\(origin ?? "nobody")")
                #expect(rest["Vary"] == "Origin")
                rest = try RawAnswer(rest.body.dropFirst(condition.isEmpty ? picture.count : 0))
            }
        }
        let twice =
            "GET /thumb/\(id) HTTP/1.1\r\nHost: localhost\r\nOrigin: \(page)\r\nOrigin: x\r\nConnection: close\r\n\r\n"
        #expect(try await bench.exchange(Data(twice.utf8))["Access-Control-Allow-Origin"] == nil)
    }

    @Test func aMalformedRequestIsAnsweredToAllPages() async throws {
        let bench = try await bench(allowing: [])
        let answer = try await bench.exchange(Data("NONSENSE\r\n\r\n".utf8))
        #expect(answer.status == 400 && answer["Access-Control-Allow-Origin"] == "*")
    }

    @Test(arguments: ["/jobs", "/thumb/00000000000000000000000000000000", "/queues/a/pause", "/nothing"])
    func aPageThatAsksFirstIsToldWhatItMaySend(path: String) async throws {
        for (origins, allowed) in [([], "*"), ([page], page)] {
            let bench = try await bench(allowing: origins, tokens: ["page": "read"])
            let asking = ["Origin": page, "Access-Control-Request-Method": "POST"]
            let answer = try await bench.send("OPTIONS", path, asking)
            #expect(answer.status == 204)
            #expect(answer["Access-Control-Allow-Origin"] == allowed)
            #expect(answer["Access-Control-Allow-Methods"] == "GET, HEAD, POST, DELETE")
            #expect(answer["Access-Control-Allow-Headers"] == "Authorization, *")
            #expect(answer["Access-Control-Max-Age"] == "7200")
            #expect(answer["Access-Control-Allow-Credentials"] == nil)
            let other = try await bench.send("OPTIONS", path, asking.merging(["Origin": "https://evil.example"]) { $1 })
            #expect(other.status == (origins.isEmpty ? 204 : 403))
            #expect(origins.isEmpty || other.text.contains("--allow-origin https://evil.example"))
            #expect(origins.isEmpty || other["Access-Control-Allow-Origin"] == nil)
            // It does not ask for a page.
            #expect([401, 404, 405].contains(try await bench.send("OPTIONS", path, ["Origin": page]).status))
        }
    }

    /// Real pages, of which one is allowed: it holds what the article's function writes.
    @Test(arguments: [true, false])
    func aRealPageReadsWhatItMay(areAllAllowed: Bool) async throws {
        let port = try RawConnection.freePort()
        let bench = try await bench(
            allowing: areAllAllowed ? [] : ["http://127.0.0.1:\(port)"],
            tokens: ["page": "read,operate"]
        )
        let pixels = [UInt8](repeating: 200, count: 64 * 48 * 4)
        let id = try await bench.makeThumbnail(PNGFile.picture(pixels, width: 64, height: 48))
        let server = "http://127.0.0.1:\(bench.port)"
        let folder = try TemporaryFolder()
        try folder.write(try await bench.get("/jobs/1", WebBench.bearer("page")).body, to: "job.json")
        let block = try #require(try Page.article("ShowInYourPage").blocks.first { $0.language == "python" }).text
        let program = block.replacing("https://pictures.example", with: server)
        let written = try await run("/usr/bin/python3", ["-c", program], currentDirectory: folder.url)
        let seen = try await run(
            "/usr/bin/python3",
            [
                Repository.file("Tests/CameoWebTests/origins.py").path, "\(port)", server, "\(id)",
                written.outputText,
            ],
            environment: [
                "PYTHONPATH": Repository.file("Tests/Laboratory/browsing").path, "PYTHONDONTWRITEBYTECODE": "1",
            ]
        )
        let json = try JSONValue(parsing: Data(seen.standardOutput))
        for host in ["127.0.0.1", "localhost"] {
            let (page, mayRead) = (json[host], areAllAllowed || host == "127.0.0.1")
            #expect(page["shown"] == 640 && page["height"] == 480, "\(host): \(seen.outputText)\(seen.errorText)")
            #expect(page["timed"] == .bool(mayRead))
            #expect(page["pixels"] == (mayRead ? 4 : "refused"))
            #expect(page["cookies"] == "refused")
            let answers: [(String, JSONValue)] = [
                ("thumbnail", [200, true, true]), ("again", [200, true, true]), ("known", [304, true, false]),
                ("missing", [404, false, true]), ("problem", [404, false, true]), ("locked", [401, false, true]),
                ("unlocked", [200, false, true]), ("cancelled", [200, false, true]),
            ]
            for (name, answer) in answers { #expect(page[name] == (mayRead ? answer : "refused"), "\(host), \(name)") }
        }
    }
}
