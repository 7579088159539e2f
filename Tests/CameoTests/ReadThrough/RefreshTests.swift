import CameoHTTPCache
import CameoModel
import CameoStore
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import Cameo

/// RFC 5861, section 3: stale answers that are served at once, and refreshed behind.
@Suite(.timeLimit(.minutes(10)))
struct RefreshTests {
    private static let window = ["Cache-Control: max-age=0, stale-while-revalidate=600", "ETag: \"one\""]

    private let origin: Origin
    private let reader: Reader
    private let path = Reader.path()

    init() async throws {
        origin = try await Origin.start()
        reader = try Reader(ReadThrough(), at: origin)
    }

    private func held(_ status: Int, _ fields: [String], body: String = "") -> ScriptedAnswer {
        var answer = ScriptedAnswer(status, fields, body: body)
        answer.held = true
        return answer
    }

    /// Returns once the store has what a refresh brings.
    private func awaitKept(_ isThere: (CachedSource) -> Bool) async throws {
        let url = try reader.url(path).absoluteString
        let store = reader.client.store
        let found = try await StoreChanges(store: store).first(within: .seconds(300)) {
            let kept = try await store.cachedSource(url)
            return isThere(kept) ? kept : nil
        }
        _ = try #require(found)
    }

    @Test func aStaleAnswerIsServedAtOnceAndRefreshedOnce() async throws {
        try await origin.script(
            path,
            ScriptedAnswer(200, Self.window, body: "old"),
            held(200, ["Cache-Control: max-age=600"], body: "new")
        )
        #expect(try await reader.get(path).cacheStatus == "Cameo; fwd=uri-miss; stored")
        for _ in 0..<3 {
            let loaded = try await reader.get(path)
            #expect(loaded.text == "old" && loaded.status == 200)
            #expect(loaded.cacheStatus.wholeMatch(of: #/Cameo; hit; ttl=-?\d+; detail=stale-while-revalidate/#) != nil)
        }
        // Parts and heads come from what is kept too, and the refresh is of the whole.
        #expect(try await reader.get(path, ["Range": "bytes=1-1"]).text == "l")
        try await origin.awaitArrivals(of: path, count: 2)
        #expect(try await reader.get(path).text == "old")
        #expect(try await reader.count(path) == 2)
        #expect(try await origin.requests(of: path)[1]["if-none-match"] == "\"one\"")
        #expect(try await origin.requests(of: path)[1]["range"] == nil)
        try await origin.release()
        try await awaitKept { $0.bytes == 3 && $0.blob == BlobDigest(of: Data("new".utf8)) }
        #expect(try await reader.get(path).text == "new")
        #expect(try await reader.count(path) == 2)
    }

    @Test func aNotModifiedMakesItFreshAgain() async throws {
        let fresh = ["Cache-Control: max-age=600", "ETag: \"one\""]
        try await origin.script(path, ScriptedAnswer(200, Self.window, body: "old"), ScriptedAnswer(304, fresh))
        _ = try await reader.get(path)
        #expect(try await reader.get(path, method: "HEAD").status == 200)
        try await awaitKept { $0.freshUntil > Date() }
        #expect(try await reader.get(path).cacheStatus.hasPrefix("Cameo; hit; ttl=5"))
        #expect(try await reader.count(path) == 2)
    }

    @Test func aRefreshThatFailsIsNoFailure() async throws {
        try await origin.script(path, ScriptedAnswer(200, Self.window, body: "old"), .hangup)
        _ = try await reader.get(path)
        #expect(try await reader.get(path).text == "old")
        try await origin.awaitArrivals(of: path, count: 2)
        // Once it has failed, the next load begins another.
        try await eventually("another refresh begins") {
            #expect(try await reader.get(path).text == "old")
            return try await reader.count(path) > 2
        }
        await origin.end()
        #expect(try await reader.get(path).text == "old")
    }

    @Test(arguments: ["max-age=0", "max-age=0, stale-while-revalidate=600, must-revalidate"])
    func whatDoesNotAllowItIsValidatedFirst(directives: String) async throws {
        try await origin.script(
            path,
            ScriptedAnswer(200, ["Cache-Control: \(directives)"], body: "old"),
            .fresh("new")
        )
        for expected in ["old", "new"] { #expect(try await reader.get(path).text == expected) }
    }

    @Test(arguments: ["max-age=100", "no-cache"])
    func whoWantsItFreshGetsItFresh(asked: String) async throws {
        try await origin.script(path, ScriptedAnswer(200, Self.window, body: "old"), .fresh("new"))
        _ = try await reader.get(path)
        #expect(try await reader.get(path, ["Cache-Control": asked]).text == "new")
    }
}
