import CameoModel
import CameoWeb
import Foundation
import TestSupport
import Testing

/// Clients that mean no good: each is answered or refused, and the server goes on.
@Suite(.timeLimit(.minutes(10)))
struct HostileTests {
    private let bench: WebBench

    init() async throws {
        bench = try await WebBench()
    }

    @Test(arguments: [
        "GET / HTTP/9.9\r\n\r\n", "NONSENSE\r\n\r\n", "GET /\u{0} HTTP/1.1\r\nHost: x\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    ])
    func whatIsNoHTTPEndsItsConnection(bytes: String) async throws {
        let answer = try await bench.exchange(Data(bytes.utf8))
        #expect((400..<500).contains(answer.status), "\(answer.status)")
        #expect(answer["Content-Type"] == "application/problem+json")
        #expect(answer["Connection"] == "close")
        #expect(try await bench.get("/health/live").status == 200)
    }

    /// The framework answers what it can before the request that is malformed.
    @Test func whatPrecedesAMalformedRequestIsAnswered() async throws {
        let port = bench.port
        let bytes = Data("GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\nNONSENSE\r\n\r\n".utf8)
        let received = try await WebBench.blocking { try RawConnection(port: port).exchange(bytes) }
        let text = String(decoding: received, as: UTF8.self)
        #expect(text.matches(of: #/HTTP\/1\.1 (\d+)/#).map { Int($0.1) } == [200, 400])
        #expect(text.contains("application/problem+json"))
    }

    @Test(arguments: ["HTTP/1.0\r\n", "HTTP/1.0\r\nConnection: keep-alive\r\nHost: localhost\r\n"])
    func anOldClientGetsNoChunksAndTheConnectionsEnd(version: String) async throws {
        for path in ["/health/live", "/", "/metrics"] {
            let answer = try await bench.exchange(Data("GET \(path) \(version)Expect: x\r\n\r\n".utf8))
            #expect(answer.status == 200, "\(path)")
            #expect(answer["Connection"] == "close" && answer["Transfer-Encoding"] == nil)
        }
    }

    @Test(arguments: ["close", "Close", "keep-alive, close"])
    func aConnectionEndsAsItIsAsked(field: String) async throws {
        let request = "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: \(field)\r\n\r\n"
        let answer = try await bench.exchange(Data(request.utf8))
        #expect(answer.status == 200 && answer["Connection"] == "close")
    }

    @Test func anUnknownExpectationIsRefused() async throws {
        #expect(try await bench.get("/health/live", ["Expect": "a-cookie"]).status == 417)
        #expect(try await bench.get("/health/live", ["Expect": "100-Continue"]).status == 200)
    }

    @Test func aHeadThatIsTooLongIsRefused() async throws {
        let long = String(repeating: "a", count: 200_000)
        let field = try? await bench.get("/health/live", ["X-Long": long])
        if let field { #expect((400..<500).contains(field.status)) }
        let target = try? await bench.get("/\(long)")
        if let target { #expect((400..<500).contains(target.status)) }
        #expect(try await bench.get("/\(String(repeating: "a", count: 66_000))").status == 414)
        #expect(try await bench.get("/health/live").status == 200)
    }

    @Test func requestsOfOneConnectionAreAnsweredInTheirOrder() async throws {
        let requests = ["/health/live", "/nothing", "/health/live"].map {
            "GET \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        }
        let last = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        let port = bench.port
        let received = try await WebBench.blocking {
            try RawConnection(port: port).exchange(Data((requests.joined() + last).utf8))
        }
        let statuses = String(decoding: received, as: UTF8.self).matches(of: #/HTTP\/1\.1 (\d+)/#).map { Int($0.1) }
        #expect(statuses == [200, 404, 200, 200])
    }

    private func get(_ path: String, hosts: [String], from bench: WebBench) async throws -> RawAnswer {
        let fields = hosts.map { "Host: \($0)\r\n" }.joined()
        return try await bench.exchange(Data("GET \(path) HTTP/1.1\r\n\(fields)Connection: close\r\n\r\n".utf8))
    }

    @Test(arguments: [
        [], ["localhost", "localhost"], [""], ["a b"], ["u@localhost"], ["localhost:x"], ["[::1"], ["/"],
    ])
    func aRequestNamesOneHost(hosts: [String]) async throws {
        let answer = try await get("/health/live", hosts: hosts, from: bench)
        #expect(answer.status == 400, "\(hosts)")
    }

    /// A page of a site whose name leads here (DNS rebinding) reads nothing that needs no token.
    @Test func anotherSitesNameLeadsNowhere() async throws {
        let host = try #require(HostName("pictures.example"))
        let named = try await WebBench { $0.hosts = [host] }
        for (name, status) in [
            ("localhost", 200), ("LocalHost:8080", 200), ("cameo.localhost.", 200), ("127.0.0.1", 200),
            ("[::1]:80", 200),
            ("192.0.2.7:8080", 200), ("evil.example", 421), ("localhost.evil.example", 421), ("notlocalhost", 421),
            ("127.0.0.1.nip.io", 421), ("0x7f000001", 421), ("2130706433", 421), ("pictures.example", 421),
        ] {
            #expect(try await get("/jobs", hosts: [name], from: bench).status == status, "\(name)")
        }
        #expect(try await get("/jobs", hosts: ["Pictures.example:443"], from: named).status == 200)
        #expect(try await get("/jobs", hosts: ["evil.example"], from: named).status == 421)
        // A token is what such a page does not have.
        let guarded = try await WebBench(tokens: ["a": "read"])
        #expect(try await get("/health/live", hosts: ["pictures.example"], from: guarded).status == 200)
        #expect(try await get("/jobs", hosts: ["evil.example"], from: guarded).status == 401)
    }

    @Test func thePageIsItsOwnServersAlone() async throws {
        let page = try await bench.get("/")
        #expect(page.status == 200)
        #expect(page["Content-Type"] == "text/html; charset=utf-8")
        let policy = try #require(page["Content-Security-Policy"])
        #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"))
        #expect(!policy.contains("unsafe"))
        // What the page loads, and what its scripts import.
        var texts = [page.text]
        var paths = page.text.matches(of: /(?:src|href)="(page\/[^"]*)"/).map { String($0.output.1) }
        var loaded: Set<String> = []
        while let path = paths.popLast() {
            guard loaded.insert(path).inserted else { continue }
            let part = try await bench.get("/\(path)")
            #expect(part.status == 200, "\(path)")
            #expect(part["Content-Security-Policy"] == policy)
            #expect(try await bench.get("/\(path)", ["If-None-Match": part["ETag"] ?? ""]).status == 304)
            texts.append(part.text)
            paths += part.text.matches(of: /(?:from|import) "\.\/([^"]*)"/).map { "page/\($0.output.1)" }
        }
        let parts = try FileManager.default.contentsOfDirectory(
            atPath: Repository.file("Sources/CameoWeb/Dashboard/Page").path
        )
        #expect(loaded == Set(parts.filter { $0 != "dashboard.html" }.map { "page/\($0)" } + ["page/advice.js"]))
        // Each code of failures is in one group, and what no group has is graded like a code of a newer version.
        let advice = try #require(try await bench.get("/page/advice.js").text.firstMatch(of: /= (.*);/)?.output.1)
        let groups = try #require(try JSONSerialization.jsonObject(with: Data(advice.utf8)) as? [[Any]])
        let codes = groups.compactMap { $0.last as? [String] }
        #expect(codes.flatMap(\.self).sorted() == JobFailure.Code.allCases.map(\.rawValue).sorted())
        #expect(codes.last == [JobFailure.Code.unknown.rawValue])
        for text in texts {
            // The name of SVG is no address that anything is loaded from.
            let text = text.replacing("http://www.w3.org/2000/svg", with: "")
            #expect(!text.contains("http:") && !text.contains("https:"))
            #expect(
                !text.contains("innerHTML") && !text.contains("insertAdjacentHTML") && !text.contains("document.write")
            )
        }
        for path in ["/page", "/page/", "/page/dashboard.js/x", "/page/dashboard.html", "/dashboard.js", "/unknown"] {
            #expect(try await bench.get(path).status == 404, "\(path)")
        }
        #expect(try await bench.send("POST", "/").status == 405)
    }
}
