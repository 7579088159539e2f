import CameoModel
import CameoStore
import CameoWeb
import Foundation
import Glibc
import StoreConformance
import TestSupport
import Testing

/// Caches before a real server: nginx with the article's blocks, Varnish and Squid with no more configuration than they need.
@Suite(.timeLimit(.minutes(10)))
struct CacheTests {
    private static let key = Array("0123456789abcdef".utf8)
    private let picture = WebBench.picture()

    private struct Cache {
        let process: ChildProcess
        let port: UInt16

        func get(_ target: String) async throws -> RawAnswer {
            let (port, request) = (port, "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return try RawAnswer(
                try await WebBench.blocking { try RawConnection(port: port).exchange(Data(request.utf8)) }
            )
        }
    }

    /// Runs a cache before the server at `origin` while `body` does.
    private func run(
        _ program: String,
        before origin: UInt16,
        _ body: (Cache) async throws -> Void
    ) async throws {
        let (folder, port) = (try TemporaryFolder(), try RawConnection.freePort())
        let arguments: [String]
        switch program {
        case "nginx":
            let blocks = try Page.article("Web").blocks.map(\.text)
            let recipe = try ["location /cameo/", "proxy_cache_path"].map { words in
                try #require(blocks.first { $0.contains(words) })
                    .replacing("unix:/run/cameo-web/pictures/socket", with: "127.0.0.1:\(origin)")
                    .replacing("/var/cache/nginx/cameo", with: folder.path("cache"))
            }
            let lines = recipe.joined().split(separator: "\n")
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(folder.path($0));"
            }
            let text = """
                \(getuid() == 0 ? "user root;" : "")
                daemon off; pid \(folder.path("pid")); error_log stderr; events {}
                http {
                access_log off; \(places.joined(separator: " "))
                \(lines.filter { $0.hasPrefix("proxy_cache_path") }.joined(separator: "\n"))
                server { listen 127.0.0.1:\(port);
                \(lines.filter { !$0.hasPrefix("proxy_cache_path") }.joined(separator: "\n"))
                } }
                """
            arguments = ["-c", try folder.write(Data(text.utf8), to: "nginx.conf")]
        case "varnishd":
            arguments = [
                "-F", "-j", "none", "-n", folder.path("varnish"), "-s", "malloc,16m", "-p", "default_grace=0",
                "-a", "127.0.0.1:\(port)", "-b", "127.0.0.1:\(origin)",
            ]
        default:
            let text = """
                http_port 127.0.0.1:\(port) accel no-vhost defaultsite=localhost
                cache_peer 127.0.0.1 parent \(origin) 0 no-query originserver
                http_access allow all
                cache_mem 16 MB
                access_log none
                cache_log /dev/null
                pid_filename none
                shutdown_lifetime 0 seconds

                """
            let file = try folder.write(Data(text.utf8), to: "squid.conf")
            // What it shares has a name on the whole machine.
            arguments = ["-N", "-n", "cameo\(port)", "-d", "1", "-f", file]
        }
        let cache = Cache(process: try ChildProcess("/usr/sbin/\(program)", arguments), port: port)
        defer { cache.process.killGroup() }
        try await eventually("\(program) answers") {
            try #require(cache.process.send(0), "\(String(decoding: cache.process.standardError, as: UTF8.self))")
            return (try? await cache.get("/cameo/health/live").status) == 200
        }
        try await body(cache)
        cache.process.send(SIGTERM)
        _ = await cache.process.ending
    }

    private func bench(_ configure: (inout WebConfiguration) -> Void = { _ in }) async throws -> WebBench {
        try await WebBench { configuration in
            configuration.basePath = "/cameo"
            configuration.signingKeys = [try #require(SigningKey(Self.key))]
            configure(&configuration)
        }
    }

    private func signed(_ source: String, expires: Int? = nil) throws -> String {
        let message = "64x64\n\(source)\n\(expires.map(String.init) ?? "")"
        let signature = try #require(SigningKey(Self.key)).signature(of: message.utf8)
        let query = expires.map { "&expires=\($0)" } ?? ""
        return "/cameo/make/64x64/\(PercentEncoding.encoded(source))?sig=\(signature)\(query)"
    }

    /// After `max-age` and `stale-while-revalidate`, and for good.
    @Test(arguments: ["nginx", "varnishd", "squid"])
    func whatIsGoneIsShownNoMore(program: String) async throws {
        let bench = try await bench { ($0.thumbnailAge, $0.thumbnailStaleness) = (.seconds(2), .seconds(4)) }
        let newer = WebBench.picture(bytes: 5_000)
        let worker = try await bench.register()
        let requests = ["replaced", "forgotten", "failed", "made"].map { name in
            ThumbnailRequest(source: "https://example.com/\(name).png", renditions: [Rendition(width: 64, height: 64)])
        }
        let ids = try requests.flatMap { try $0.thumbnailIDs() }
        var urls = ids.map { "/cameo/thumb/\($0)" }
        urls[3] = try signed(requests[3].source)
        _ = try await bench.store.enqueue(requests)
        try await bench.work(worker, with: picture)
        // It is pending again, under a URL that names the job.
        urls[2] += "?job=\(try #require(try await bench.store.enqueue([requests[2]])[0].id))"
        try await run(program, before: bench.port) { cache in
            for url in urls {
                try await eventually("\(url) is cached") {
                    let answer = try await cache.get(url)
                    try #require(answer.status == 200 && answer.body == picture, "\(url): \(answer.text)")
                    let marks = ["X-Cache-Status", "X-Cache", "X-Varnish"].compactMap { answer[$0] }
                    return marks.contains { $0.hasPrefix("HIT") || $0.contains(#/^\d+ \d+/#) }
                }
            }
            #expect(try await bench.store.removeThumbnails(Array(ids[1...])) == 3)
            try await bench.discard(worker, .sourceUnreachable)
            #expect(try await bench.get(urls[3]).status == 202)
            try await bench.discard(worker, .storeFailed)
            _ = try await bench.store.enqueue([requests[0]])
            try await bench.work(worker, with: newer)
            try await eventually("the new one is shown") { try await cache.get(urls[0]).body == newer }
            for url in urls[1...] {
                try await eventually("\(url) is gone") { try await cache.get(url).status != 200 }
            }
            for (url, statuses) in zip(urls, [[200], [404], [502], [503, 202]]) {
                let answer = try await cache.get(url)
                #expect(statuses.contains(answer.status), "\(url): \(answer.text)")
            }
        }
    }

    /// Nor while the server is away.
    @Test(arguments: ["nginx", "varnishd", "squid"])
    func aURLThatHasEndedIsNotServed(program: String) async throws {
        let bench = try await bench()
        try await run(program, before: bench.port) { cache in
            let source = "https://example.com/made.png"
            #expect(try await bench.get(try signed(source)).status == 202)
            try await bench.work(try await bench.register(), with: picture)
            var url = ""
            repeat {
                url = try signed(source, expires: Int(Date().timeIntervalSince1970) + 4)
            } while try await cache.get(url).status == 410
            try await eventually("it has ended") { try await bench.get(url).status == 410 }
            #expect(try await cache.get(url).status == 410)
            await bench.stop()
            #expect(try await cache.get(url).status >= 500)
        }
    }
}
