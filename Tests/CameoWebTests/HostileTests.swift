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
        "POST /jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func whatIsNoHTTPEndsItsConnection(bytes: String) async throws {
        // Answered by 4xx, or not at all; never by what a request would get.
        let answer = try? await bench.exchange(Data(bytes.utf8))
        if let answer { #expect((400..<500).contains(answer.status), "\(answer.status)") }
        #expect(try await bench.get("/health/live").status == 200)
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
        let requests = ["/health/live", "/nothing", "/health/live"].map { "GET \($0) HTTP/1.1\r\nHost: x\r\n\r\n" }
        let last = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        let port = bench.port
        let received = try await WebBench.blocking {
            try RawConnection(port: port).exchange(Data((requests.joined() + last).utf8))
        }
        let statuses = String(decoding: received, as: UTF8.self).matches(of: #/HTTP\/1\.1 (\d+)/#).map { Int($0.1) }
        #expect(statuses == [200, 404, 200, 200])
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
            paths += part.text.matches(of: /from "\.\/([^"]*)"/).map { "page/\($0.output.1)" }
        }
        let parts = try FileManager.default.contentsOfDirectory(
            atPath: Repository.file("Sources/CameoWeb/Dashboard/Page").path
        )
        #expect(loaded == Set(parts.filter { $0 != "dashboard.html" }.map { "page/\($0)" }))
        for text in texts {
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
