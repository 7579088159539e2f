import CacheConformance
import CameoFetch
import CameoHTTPCache
import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

/// Several answers to one URI. Workers send headers of their own, which may differ: their user agents, and those that their
/// operators have set.
@Suite(.origin, .timeLimit(.minutes(10)))
struct VaryTests {
    private let origin = Origin.ofSuite
    private let bench: CacheBench

    init() throws { bench = try CacheBench() }

    private func worker(_ change: (inout FetchConfiguration) throws -> Void) throws -> Fetcher {
        try bench.anotherFetcher(change: change)
    }

    @Test func anotherUserAgentIsAnotherVariant() async throws {
        let path = "/scripted/agent"
        let uri = origin.url(path)
        let vary = ["Cache-Control: max-age=60", "Vary: User-Agent"]
        let other = try worker { $0.userAgent = "another" }
        try await origin.script(path, ScriptedAnswer(200, vary, body: "for all"))
        #expect(try await bench.outcome(uri) == "fetched for all")
        try await origin.script(path, ScriptedAnswer(200, vary, body: "for another"))
        #expect(try await bench.outcome(uri, with: other) == "fetched for another")
        // Both are kept.
        #expect(try await bench.outcome(uri) == "cached for all")
        #expect(try await bench.outcome(uri, with: other) == "cached for another")
        #expect(try await origin.requests(of: path).count == 2)
    }

    @Test func anOperatorsHeaderMakesAVariantAndIsStoredAsADigestOnly() async throws {
        let path = "/scripted/operator"
        let host = "http://127.0.0.1:\(origin.port)"
        let other = try worker { $0.hostHeaders = [try HostHeader(host: host, name: "X-Key", value: "hunter2")] }
        let vary = ["Cache-Control: public, max-age=60", "Vary: X-Key"]
        try await origin.script(path, ScriptedAnswer(200, vary, body: "with key"))
        #expect(try await bench.outcome(origin.url(path), with: other) == "fetched with key")
        try await origin.script(path, ScriptedAnswer(200, vary, body: "without"))
        #expect(try await bench.outcome(origin.url(path)) == "fetched without")
        #expect(try await bench.outcome(origin.url(path), with: other) == "cached with key")
        let kept = try await bench.store.cachedSources(.init(uri: origin.url(path), scope: nil))
        #expect(kept.count == 2)
        #expect(!kept.contains { $0.variant.contains("hunter2") })
    }

    /// A variant that may not be served to a request may not be validated for it either.
    @Test func onlyTheMatchingVariantIsValidated() async throws {
        let path = "/scripted/validated"
        let other = try worker { $0.userAgent = "another" }
        let fields = ["Cache-Control: max-age=60", "Vary: User-Agent", "ETag: \"v1\""]
        try await origin.script(path, ScriptedAnswer(200, fields, body: "one"))
        #expect(try await bench.outcome(origin.url(path)) == "fetched one")
        bench.clock.advance(61)
        #expect(try await bench.outcome(origin.url(path), with: other) == "fetched one")
        #expect(try await origin.requests(of: path).last?["if-none-match"] == nil)
    }

    @Test func aNotModifiedThatVariesByMoreRemovesTheAnswer() async throws {
        let path = "/scripted/varies-now"
        let fields = ["Cache-Control: max-age=60", "ETag: \"v1\""]
        try await origin.script(path, ScriptedAnswer(200, fields, body: "one"))
        #expect(try await bench.outcome(origin.url(path)) == "fetched one")
        bench.clock.advance(61)
        try await origin.script(path, ScriptedAnswer(304, fields + ["Vary: User-Agent"]))
        #expect(try await bench.outcome(origin.url(path)) == "revalidated one")
        #expect(try await bench.store.cachedSources(.init(uri: origin.url(path), scope: nil)).isEmpty)
    }

    @Test func aRedirectThatVariesMakesItsChainVary() async throws {
        let path = "/scripted/hop"
        let end = "/scripted/hop-end"
        let other = try worker { $0.userAgent = "another" }
        try await origin.script(
            path,
            ScriptedAnswer(301, ["Cache-Control: max-age=60", "Vary: User-Agent", "Location: \(end)"])
        )
        try await origin.script(end, ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "one"))
        #expect(try await bench.outcome(origin.url(path)) == "fetched one")
        #expect(try await bench.outcome(origin.url(path), with: other) == "fetched one")
        #expect(try await bench.outcome(origin.url(path)) == "cached one")
    }
}
