import CacheConformance
import CameoFetch
import CameoHTTPCache
import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import TestSupport
import Testing

/// RFC 5861, section 3, for jobs: a stale original is used at once, and refreshed behind.
@Suite(.timeLimit(.minutes(10)))
struct RefreshTests {
    private let origin: Origin
    private let bench: CacheBench
    private let path = "/scripted/a"
    private let uri: String

    init() async throws {
        origin = try await Origin.start()
        bench = try CacheBench()
        uri = origin.url(path)
    }

    private func script(_ answers: [(status: Int, fields: [String], body: String)], holding index: Int? = nil)
        async throws
    {
        let now = bench.clock.now()
        var scripted = answers.map { answer in
            ScriptedAnswer(answer.status, ConformanceRow.dated(answer.fields, at: now), body: answer.body)
        }
        if let index { scripted[index].held = true }
        try await origin.script(path, scripted)
    }

    @Test func jobsUseTheStaleOriginalAndOneRefreshBringsTheNext() async throws {
        let window = ["CC: max-age=60, stale-while-revalidate=600"]
        try await script([(200, window, "first"), (200, ["CC: max-age=6000"], "second")], holding: 1)
        #expect(try await bench.outcome(uri) == "fetched first")
        bench.clock.advance(100)
        for _ in 0..<3 {
            let source = try await bench.fetch(uri)
            #expect(try source.text() == "first")
            // It is what the first fetch saw.
            #expect(source.sourceSeen == 1 && source.arrival.name == "cached")
        }
        try await origin.awaitArrivals(of: path, count: 2)
        #expect(try await bench.outcome(uri) == "cached first")
        #expect(try await origin.requests(of: path).count == 2)
        try await origin.release()
        let second = BlobDigest(of: Data("second".utf8))
        let kept = try await StoreChanges(store: bench.store).first(within: .seconds(300)) {
            let source = try await bench.store.cachedSource(uri)
            return source.blob == second ? source : nil
        }
        #expect(try #require(kept).sourceSeen > 1)
        #expect(try await bench.outcome(uri) == "cached second")
        #expect(try await origin.requests(of: path).count == 2)
    }

    @Test func aRefreshThatFailsFailsNoJob() async throws {
        try await script([(200, ["CC: max-age=60, stale-while-revalidate=600"], "first"), (500, [], "")])
        #expect(try await bench.outcome(uri) == "fetched first")
        bench.clock.advance(100)
        #expect(try await bench.outcome(uri) == "cached first")
        try await origin.awaitArrivals(of: path, count: 2)
        await origin.end()
        for _ in 0..<3 { #expect(try await bench.outcome(uri) == "cached first") }
        bench.clock.advance(600)
        #expect(try await bench.outcome(uri) == "stale first", "beyond its time, and the server is gone")
    }

    @Test func aJobThatAsksTheServerIsNotServedTheStaleOriginal() async throws {
        let window = ["CC: max-age=60, stale-while-revalidate=600"]
        try await script([(200, window, "first"), (200, ["CC: max-age=60"], "second")])
        #expect(try await bench.outcome(uri) == "fetched first")
        bench.clock.advance(100)
        #expect(try await bench.outcome(uri, asksServer: true) == "fetched second")
    }
}
