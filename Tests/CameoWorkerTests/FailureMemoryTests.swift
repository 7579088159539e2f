import CacheConformance
import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

/// Failures that are remembered for a short time, in which their sources are not asked again.
@Suite(.origin, .timeLimit(.minutes(10)))
struct FailureMemoryTests {
    private let origin = Origin.ofSuite
    private let bench: CacheBench

    init() throws { bench = try CacheBench() }

    private func failure(_ uri: String, isFirstAttempt: Bool = true) async throws -> JobFailure {
        try #require(
            await #expect(throws: JobFailure.self) { _ = try await bench.fetch(uri, isFirstAttempt: isFirstAttempt) }
        )
    }

    /// For how many seconds a failure is remembered, by its status and fields; nil for not at all.
    @Test(
        arguments: [
            (404, [], 10.0), (410, [], 10), (401, [], 10), (403, [], 10), (400, [], 10), (429, [], 10), (500, [], 10),
            (503, [], 10), (503, ["Retry-After: 60"], 60), (429, ["Retry-After: 100000"], 300),
            (503, ["Retry-After: 1"], 10),
            (404, ["Cache-Control: max-age=60"], 60), (410, ["Cache-Control: max-age=100000"], 300),
            (404, ["Cache-Control: max-age=5"], 5), (404, ["Cache-Control: max-age=0"], nil),
            (404, ["Cache-Control: no-store"], nil), (503, ["Cache-Control: no-store"], nil),
            (500, ["Cache-Control: max-age=60"], 10), (404, ["Cache-Control: no-cache"], nil),
            (404, ["Cache-Control: private"], nil), (410, ["Cache-Control: s-maxage=20"], 20),
            (404, ["Expires: @30"], 30),
        ] as [(Int, [String], Double?)]
    )
    func aServersFailureIsRemembered(status: Int, fields: [String], seconds: Double?) async throws {
        let path = "/scripted/\(status)\(fields.joined().filter { $0.isLetter || $0.isNumber })"
        let uri = origin.url(path)
        let dated = ConformanceRow.dated(fields, at: bench.clock.now())
        try await origin.script(path, ScriptedAnswer(status, dated), ScriptedAnswer(200, body: "there"))
        let first = try await failure(uri)
        guard let seconds else {
            #expect(try await bench.outcome(uri) == "fetched there")
            return
        }
        bench.clock.advance(seconds - 1)
        let again = try await failure(uri)
        #expect(again.code == first.code)
        #expect(again.isRetryable == first.isRetryable)
        #expect(again.message.hasPrefix("\(first.message) (remembered since "))
        #expect(again.retryAfter == (first.isRetryable ? .seconds(1) : nil))
        #expect(try await origin.requests(of: path).count == 1)
        bench.clock.advance(2)
        #expect(try await bench.outcome(uri) == "fetched there")
    }

    /// A retry must see the current state of the source.
    @Test func onlyAFirstAttemptIsAnsweredFromMemory() async throws {
        let path = "/scripted/attempts"
        try await origin.script(path, ScriptedAnswer(404), ScriptedAnswer(200, body: "there"))
        _ = try await failure(origin.url(path))
        _ = try await failure(origin.url(path))
        #expect(try await bench.outcome(origin.url(path), isFirstAttempt: false) == "fetched there")
    }

    @Test func aSuccessEndsTheMemoryOfAFailure() async throws {
        let path = "/scripted/success"
        let uri = origin.url(path)
        try await origin.script(
            path,
            ScriptedAnswer(404),
            ScriptedAnswer(200, ["Cache-Control: max-age=1"], body: "there")
        )
        _ = try await failure(uri)
        #expect(try await bench.outcome(uri, isFirstAttempt: false) == "fetched there")
        bench.clock.advance(2)
        #expect(try await bench.outcome(uri) == "fetched there")
    }

    @Test func aServerThatCannotBeReachedIsRemembered() async throws {
        let path = "/scripted/unreachable"
        try await origin.script(path, .hangup)
        let first = try await failure(origin.url(path))
        let asked = try await origin.requests(of: path).count
        let again = try await failure(origin.url(path))
        #expect(again.code == .sourceUnreachable)
        #expect(again.message.hasPrefix("\(first.message) (remembered since 2030-03-17T17:46:40"))
        #expect(try await origin.requests(of: path).count == asked)
    }

    /// A refusal costs nothing to repeat, and another worker may allow what this one refuses.
    @Test func whatThisWorkerRefusesIsNotRemembered() async throws {
        let path = "/scripted/large"
        let small = try bench.anotherFetcher(change: { $0.maximumBytes = 3 })
        try await origin.script(path, ScriptedAnswer(200, body: "more than three"))
        #expect(try await bench.outcome(origin.url(path), with: small) == "source.tooLarge")
        #expect(try await bench.outcome(origin.url(path)) == "fetched more than three")

        let guarded = try bench.anotherFetcher(change: { $0.allowedNetworks = [] })
        #expect(try await bench.outcome(origin.url("/scripted/guarded"), with: guarded) == "source.forbidden")
        try await origin.script("/scripted/guarded", ScriptedAnswer(200, body: "there"))
        #expect(try await bench.outcome(origin.url("/scripted/guarded")) == "fetched there")
    }

    /// Its download is given up, and the server is lost before the first part.
    @Test func theFailureOfAPartOfAVideoIsRemembered() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Data("\0\0\0\u{18}ftypisom".utf8) + Data(count: 9 << 20), to: "film")
        let origin = try await Origin.start(serving: folder.path)
        let bench = try CacheBench { $0.loadsVideosInParts = true }
        let uri = origin.url("/parts?file=film&lost=1")
        for _ in 0..<2 { #expect(try await bench.outcome(uri) == "source.unreachable") }
        #expect(try await origin.counts().requests["/parts"] == 2)
    }

    @Test func oneTenantsFailureIsNotAnothers() async throws {
        let path = "/scripted/tenants"
        try await origin.script(path, ScriptedAnswer(403), ScriptedAnswer(200, body: "there"))
        #expect(try await bench.outcome(origin.url(path), headers: ["Cookie": "a"]) == "source.forbidden")
        #expect(try await bench.outcome(origin.url(path), headers: ["Cookie": "b"]) == "fetched there")
    }

    @Test func zeroRemembersNothing() async throws {
        var rules = CacheRules()
        rules.failureMemory = .zero
        let bench = try CacheBench(rules)
        let path = "/scripted/off"
        try await origin.script(
            path,
            ScriptedAnswer(404, ["Cache-Control: max-age=60"]),
            ScriptedAnswer(200, body: "there")
        )
        #expect(try await bench.outcome(origin.url(path)) == "source.notFound")
        #expect(try await bench.outcome(origin.url(path)) == "fetched there")
    }
}
