import CacheConformance
import CameoFetch
import CameoHTTPCache
import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

/// Redirects, which are cached with the answer that they lead to, under the requested URI.
@Suite(.origin, .timeLimit(.minutes(10)))
struct ChainTests {
    private let origin = Origin.ofSuite
    private let bench: CacheBench

    init() throws { bench = try CacheBench() }

    /// A `Location` with bytes other than ASCII, in Latin-1 or UTF-8, leads where the server means, both at once and from the
    /// cache.
    @Test(arguments: [("caf\u{e9}", "caf%E9"), ("caf\u{c3}\u{a9}", "caf%C3%A9")])
    func rawBytesOfALocationStayWhatTheyAre(latin: String, path: String) async throws {
        let start = "/scripted/raw-\(path.utf8.count)"
        try await origin.script(
            start,
            ScriptedAnswer(301, ["Cache-Control: max-age=60", "Location: /scripted/\(latin)"])
        )
        try await origin.script("/scripted/\(path)", ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: path))
        #expect(try await bench.outcome(origin.url(start)) == "fetched \(path)")
        #expect(try await bench.outcome(origin.url(start)) == "cached \(path)")
        let kept = try await bench.store.cachedSources(SourceKey(uri: origin.url(start), scope: nil))
        #expect(kept.first?.finalURL == origin.url("/scripted/\(path)"))
    }

    /// Scripts a redirect and its target, under a name that no other test uses.
    private func chain(
        _ name: String,
        _ redirect: String,
        to answer: String
    ) async throws -> (start: String, end: String) {
        let (start, end) = ("/scripted/\(name)", "/scripted/\(name)-end")
        let date = ConformanceRow.dated([], at: bench.clock.now())
        let hop = ["Cache-Control: \(redirect)", "Location: \(end)"]
        try await origin.script(start, ScriptedAnswer(302, date + hop))
        try await origin.script(
            end,
            ScriptedAnswer(200, date + ["Cache-Control: \(answer)", "ETag: \"v1\""], body: "first")
        )
        return (start, end)
    }

    private func requests(_ paths: (String, String)) async throws -> [Int] {
        [try await origin.requests(of: paths.0).count, try await origin.requests(of: paths.1).count]
    }

    @Test func aChainIsFreshWhileAllOfItIs() async throws {
        let paths = try await chain("fresh", "max-age=60", to: "max-age=600")
        let uri = origin.url(paths.start)
        #expect(try await bench.outcome(uri) == "fetched first")
        bench.clock.advance(59)
        #expect(try await bench.outcome(uri) == "cached first")
        #expect(try await requests(paths) == [1, 1])
        bench.clock.advance(2)
        try await origin.script(paths.end, ScriptedAnswer(304, ConformanceRow.dated([], at: bench.clock.now())))
        #expect(try await bench.outcome(uri) == "revalidated first")
        #expect(try await requests(paths) == [2, 2])
        // Validators concern the bytes, so they are sent only to the URL that returned the bytes.
        #expect(try await origin.requests(of: paths.start).last?["if-none-match"] == nil)
        #expect(try await origin.requests(of: paths.end).last?["if-none-match"] == "\"v1\"")
    }

    @Test func aRedirectToAnotherTargetReplacesTheBytes() async throws {
        let paths = try await chain("moved", "max-age=60", to: "max-age=600")
        #expect(try await bench.outcome(origin.url(paths.start)) == "fetched first")
        bench.clock.advance(61)
        let elsewhere = "/scripted/moved-elsewhere"
        try await origin.script(paths.start, ScriptedAnswer(302, ["Location: \(elsewhere)"]))
        try await origin.script(elsewhere, ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "second"))
        #expect(try await bench.outcome(origin.url(paths.start)) == "fetched second")
        #expect(try await origin.requests(of: elsewhere).last?["if-none-match"] == nil)
        #expect(try await requests(paths) == [2, 1])
    }

    /// The target of a redirect is another URI with an entry of its own.
    @Test func theEndOfAChainIsNotCachedUnderItsOwnURI() async throws {
        let paths = try await chain("end", "max-age=60", to: "max-age=600")
        #expect(try await bench.outcome(origin.url(paths.start)) == "fetched first")
        #expect(try await bench.outcome(origin.url(paths.end)) == "fetched first")
        #expect(try await bench.store.cachedSource(origin.url(paths.start)).finalURL == origin.url(paths.end))
    }

    @Test func aChainIsServedStaleWhenOneOfItsServersIsUnreachable() async throws {
        let paths = try await chain("broken", "max-age=60", to: "max-age=60")
        #expect(try await bench.outcome(origin.url(paths.start)) == "fetched first")
        bench.clock.advance(61)
        try await origin.script(paths.end, .hangup)
        #expect(try await bench.outcome(origin.url(paths.start)) == "stale first")
    }

    @Test(arguments: ["cameo://source/http%3A%2F%2Fa", "cameo://thumb/0123456789abcdef0123456789abcdef"])
    func noRedirectLeadsIntoTheStore(target: String) async throws {
        let path = "/scripted/store-\(target.count)"
        try await origin.script(path, ScriptedAnswer(301, ["Location: \(target)", "Cache-Control: max-age=60"]))
        #expect(try await bench.outcome(origin.url(path)) == "source.forbidden")
    }

    /// Answers are cached under the URI that the producer wrote, wherever they are fetched from.
    @Test func aRewrittenSourceIsCachedUnderItsOwnName() async throws {
        let bench = try CacheBench(
            .lifetime(600, host: "pictures.invalid"),
            change: {
                $0.rewrites = [try SourceRewrite(parsing: "http://pictures.invalid/=\(self.origin.url("/scripted/"))")]
            }
        )
        try await origin.script("/scripted/rewritten", ScriptedAnswer(200, [], body: "first"))
        for outcome in ["fetched first", "cached first"] {
            #expect(try await bench.outcome("http://pictures.invalid/rewritten") == outcome)
        }
        #expect(try await bench.outcome(origin.url("/scripted/rewritten")) == "fetched first")
    }
}
