import CacheConformance
import CameoFetch
import Foundation
import TestSupport
import Testing

/// RFC 9111 with real HTTP: a server that follows a script, the worker's fetcher, and the store.
@Suite(.origin, .timeLimit(.minutes(10)))
struct ConformanceTests {
    @Test(arguments: TestLength.few(ConformanceRow.table.indices, 24))
    func table(index: Int) async throws {
        let row = ConformanceRow.table[index]
        var rules = CacheRules()
        rules.lifetimes =
            row.rules.lifetime(for: "127.0.0.1").map { [CacheRules.Lifetime(host: "127.0.0.1", $0)] } ?? []
        rules.staleIfError = row.rules.staleIfError
        rules.failureMemory = .zero
        let origin = try #require(OriginScope.current)
        try await row.check(Subject(bench: try CacheBench(rules), origin: origin, path: "/scripted/row-\(index)"))
    }

    @Test(arguments: [("127.0.0.1", "cached first"), ("example.com", "fetched first")])
    func aLifetimeIsForItsHost(host: String, second: String) async throws {
        let origin = try #require(OriginScope.current)
        let bench = try CacheBench(.lifetime(86_400, host: host))
        let path = "/scripted/lifetime-of-\(host)"
        try await origin.script(path, ScriptedAnswer(200, body: "first"))
        for outcome in ["fetched first", second] { #expect(try await bench.outcome(origin.url(path)) == outcome) }
    }

    private struct Subject: CacheSubject {
        let bench: CacheBench
        let origin: Origin
        let path: String

        func now() -> Date { bench.clock.now() }
        func advance(_ seconds: Double) { bench.clock.advance(seconds) }
        func script(_ answer: ScriptedAnswer) async throws { try await origin.script(path, answer) }
        func requests() async throws -> [[String: String]] { try await origin.requests(of: path) }
        func outcome(_ headers: [String: String]) async throws -> String {
            try await bench.outcome(origin.url(path), headers: headers)
        }
    }
}

extension CacheRules {
    static func lifetime(_ seconds: Int, host: String? = nil) -> CacheRules {
        var rules = CacheRules()
        rules.lifetimes = [Lifetime(host: host, .seconds(seconds))]
        return rules
    }
}
