import CacheConformance
import CameoFetch
import CameoModel
import CameoSQLite
import CameoStore
import CameoWorker
import Foundation
import TestSupport
import Testing

/// Several fetchers on one store, of one worker or of several.
@Suite(.timeLimit(.minutes(10)))
struct SharedStoreTests {
    private let origin: Origin
    private let bench: CacheBench

    init() async throws {
        origin = try await Origin.start()
        bench = try CacheBench()
    }

    private func held(_ body: String) -> ScriptedAnswer {
        var answer = ScriptedAnswer(200, ["Cache-Control: max-age=600"], body: body)
        answer.held = true
        return answer
    }

    @Test func aWorkerServesWhatAnotherHasFetched() async throws {
        let uri = origin.url("/scripted/a")
        try await origin.script("/scripted/a", ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "one"))
        #expect(try await bench.outcome(uri) == "fetched one")
        #expect(try await bench.outcome(uri, with: bench.anotherFetcher()) == "cached one")
    }

    /// A job with `refresh: always` uses no fresh answer, no remembered failure, and no stale answer of an unreachable server.
    @Test func aJobThatAlwaysRefreshesAsksTheServer() async throws {
        let uri = origin.url("/scripted/a")
        let fields = ["Cache-Control: max-age=60", "ETag: \"v1\""]
        try await origin.script(
            "/scripted/a",
            ScriptedAnswer(200, fields, body: "one"),
            ScriptedAnswer(304, fields),
            ScriptedAnswer(503, body: "busy"),
            ScriptedAnswer(200, fields, body: "two")
        )
        #expect(try await bench.outcome(uri) == "fetched one")
        #expect(try await bench.outcome(uri) == "cached one")
        #expect(try await bench.outcome(uri, asksServer: true) == "revalidated one")
        #expect(try await bench.outcome(uri, asksServer: true) == "source.httpStatus")
        #expect(try await bench.outcome(uri, asksServer: true) == "fetched two")
    }

    /// Invariant I4, where the fetch that began first ends last.
    @Test func anOlderFetchNeverReplacesANewerOne() async throws {
        let uri = origin.url("/scripted/a")
        let other = try bench.anotherFetcher()
        try await origin.script(
            "/scripted/a",
            held("old"),
            ScriptedAnswer(200, ["Cache-Control: max-age=600"], body: "new")
        )
        let older = Task { try await bench.fetch(uri) }
        try await origin.awaitArrivals(of: "/scripted/a")
        #expect(try await bench.outcome(uri, with: other) == "fetched new")
        try await origin.release()
        #expect(try await older.value.text() == "old")
        let cached = try await bench.fetch(uri)
        #expect(try cached.text() == "new")
        #expect(cached.sourceSeen == 2)
    }

    /// Of several matching answers, the newest counts, even if an older one is still fresh (RFC 9111, section 4).
    @Test func anOlderAnswerIsNotServedBecauseTheNewestIsStale() async throws {
        let uri = origin.url("/scripted/a")
        let other = try bench.anotherFetcher()
        var old = held("old")
        old.headers.append(["Vary", "Accept"])
        try await origin.script(
            "/scripted/a",
            old,
            ScriptedAnswer(200, ["Cache-Control: max-age=0"], body: "new"),
            ScriptedAnswer(200, body: "newest")
        )
        let older = Task { try await bench.fetch(uri) }
        try await origin.awaitArrivals(of: "/scripted/a")
        #expect(try await bench.outcome(uri, with: other) == "fetched new")
        try await origin.release()
        _ = try await older.value
        #expect(try await bench.store.cachedSources(SourceKey(uri: uri, scope: nil)).count == 2)
        let outcome = try await bench.outcome(uri)
        #expect(outcome == "fetched newest")
    }

    /// A thumbnail has the number of the fetch that brought its bytes, not of the job that used them.
    @Test func bytesFromTheCacheKeepTheNumberOfTheirFetch() async throws {
        let uri = origin.url("/scripted/a")
        let fields = ["Cache-Control: max-age=60", "ETag: \"v1\""]
        try await origin.script("/scripted/a", ScriptedAnswer(200, fields, body: "one"), ScriptedAnswer(304, fields))
        #expect(try await bench.fetch(uri).sourceSeen == 1)
        #expect(try await bench.fetch(uri).sourceSeen == 1)
        bench.clock.advance(61)
        #expect(try await bench.fetch(uri).sourceSeen == 3)
        #expect(try await bench.fetch(uri).sourceSeen == 3)
    }

    @Test func jobsThatShareADownloadUseTheCacheOnce() async throws {
        try await origin.script("/scripted/a", held("one"), ScriptedAnswer(200, body: "two"))
        let numbers = try await [bench.store.nextSourceSeen(), bench.store.nextSourceSeen()]
        let fetches = numbers.map { number in
            let ticket = FetchTicket(sourceSeen: number, after: 0, isFirstAttempt: true)
            return Task.immediate { try await bench.fetcher.fetch(origin.url("/scripted/a"), ticket: ticket) }
        }
        try await origin.awaitArrivals(of: "/scripted/a")
        try await origin.release()
        for fetch in fetches {
            #expect(try await fetch.value.text() == "one")
            #expect(try await fetch.value.sourceSeen == 1)
        }
        #expect(try await origin.requests(of: "/scripted/a").count == 1)
        #expect(try await bench.fetch(origin.url("/scripted/a")).sourceSeen == 1)
    }

    @Test func anAnswerThatIsEvictedWhileInUseStaysReadable() async throws {
        let bench = try CacheBench(budget: 250_000)
        let body = { (letter: String) in String(repeating: letter, count: 200_000) }
        for letter in ["a", "b"] {
            try await origin.script(
                "/scripted/\(letter)",
                ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: body(letter))
            )
        }
        _ = try await bench.fetch(origin.url("/scripted/a"))
        let cached = try await bench.fetch(origin.url("/scripted/a"))
        _ = try await bench.fetch(origin.url("/scripted/b"))
        #expect(try cached.text() == body("a"))
        // There is room for one.
        #expect(try await bench.outcome(origin.url("/scripted/b")) == "cached \(body("b"))")
        #expect(try await bench.outcome(origin.url("/scripted/a")) == "fetched \(body("a"))")
    }

    @Test func anAnswerLargerThanTheBudgetIsServedAndNotCached() async throws {
        let bench = try CacheBench(budget: 3)
        try await origin.script("/scripted/a", ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "four"))
        for _ in 0..<2 { #expect(try await bench.outcome(origin.url("/scripted/a")) == "fetched four") }
    }

    @Test func anAnswerThatGrewBeyondTheBudgetRemovesItsPredecessor() async throws {
        let bench = try CacheBench(budget: 3)
        let uri = origin.url("/scripted/a")
        try await origin.script("/scripted/a", ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "abc"))
        #expect(try await bench.outcome(uri) == "fetched abc")
        bench.clock.advance(61)
        try await origin.script("/scripted/a", ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "four"))
        #expect(try await bench.outcome(uri) == "fetched four")
        #expect(try await bench.store.cachedSources(SourceKey(uri: uri, scope: nil)).isEmpty)
    }

    /// Trouble with the cache costs a download and a warning.
    @Test func aStoreThatRefusesWritesFailsNoFetch() async throws {
        let uri = origin.url("/scripted/a")
        try await origin.script("/scripted/a", ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "one"))
        let reading: any Store = try SQLiteStore(reading: bench.store.location, clock: bench.clock.storeClock)
        let fetcher = try CacheBench.fetcher(
            CacheRules(),
            bench.clock,
            StoredAnswers(store: reading, budget: 1 << 20, logger: bench.log.logger)
        )
        for _ in 0..<2 { #expect(try await bench.outcome(uri, with: fetcher) == "fetched one") }
        #expect(bench.log.lines.filter { $0.contains("warning cannot keep a source in the cache") }.count == 2)
    }
}
