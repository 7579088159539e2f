import CacheConformance
import CameoFetch
import CameoHTTPCache
import CameoModel
import CameoSQLite
import Foundation
import TestSupport
import Testing

/// Downloads that break off, and are resumed where the server allows it.
@Suite(.timeLimit(.minutes(10)))
struct ResumeTests {
    private static let whole = text(0..<200_000)
    private static let tag = ["CC: max-age=600", "ETag: \"a\"", "Content-Type: image/png"]
    private static let range = "Content-Range: bytes 100000-199999/200000"

    private let origin: Origin
    private let bench: CacheBench
    private let path = "/scripted/a"
    private let uri: String

    init() async throws {
        origin = try await Origin.start()
        bench = try CacheBench()
        uri = origin.url(path)
    }

    /// Characters that tell their place.
    private static func text(_ range: Range<Int>) -> String {
        String(decoding: range.map { UInt8(ascii: "a") + UInt8($0 / 7 % 26) }, as: UTF8.self)
    }

    private func answer(_ status: Int, _ fields: [String], _ body: Range<Int> = 0..<200_000, cut: Int? = nil)
        -> ScriptedAnswer
    {
        let dated = ConformanceRow.dated(fields, at: bench.clock.now())
        var answer = ScriptedAnswer(status, dated, body: Self.text(body))
        answer.cut = cut
        return answer
    }

    /// A response that breaks off in its middle.
    private func broken(_ fields: [String] = tag) -> ScriptedAnswer { answer(200, fields, cut: 100_000) }

    private var requests: [[String: String]] {
        get async throws { try await origin.requests(of: path) }
    }

    private var keptFiles: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: bench.folder.path("store/blobs/tmp")) }
    }

    @Test func anotherWorkerGoesOnWhereTheDownloadBrokeOff() async throws {
        let rest = answer(206, ["CC: max-age=600", "ETag: \"a\"", Self.range], 100_000..<200_000)
        try await origin.script(path, [broken(), rest])
        #expect(try await bench.outcome(uri) == "source.unreachable")
        #expect(try keptFiles.count == 1)
        let fetcher = try bench.anotherFetcher()
        let source = try await bench.fetch(uri, isFirstAttempt: false, with: fetcher)
        #expect(try source.text() == Self.whole)
        #expect(source.bytes == 200_000 && source.digest == BlobDigest(of: Data(Self.whole.utf8)))
        #expect(source.mediaType == "image/png" && source.arrival.name == "fetched")
        let request = try await requests[1]
        #expect(request["range"] == "bytes=100000-" && request["if-range"] == "\"a\"")
        #expect(request["accept-encoding"] == "identity")
        #expect(try keptFiles == [])
        #expect(try await bench.outcome(uri) == "cached \(Self.whole)")
        #expect(try await requests.count == 2)
    }

    @Test func aDownloadMayBreakOffAgainAndAgain() async throws {
        let steps = [
            broken(), answer(206, ["ETag: \"a\"", Self.range], 100_000..<200_000, cut: 50_000),
            answer(206, ["ETag: \"a\"", "Content-Range: bytes 150000-199999/200000"], 150_000..<200_000, cut: 0),
            answer(206, ["ETag: \"a\"", "Content-Range: bytes 150000-199999/200000"], 150_000..<200_000),
        ]
        try await origin.script(path, steps)
        for _ in 0..<3 { #expect(try await bench.outcome(uri, isFirstAttempt: false) == "source.unreachable") }
        #expect(try await bench.outcome(uri, isFirstAttempt: false) == "fetched \(Self.whole)")
        let ranges = try await requests.map { $0["range"] }
        #expect(ranges == [nil, "bytes=100000-", "bytes=150000-", "bytes=150000-"])
    }

    @Test func aDateServesIfItIsStrong() async throws {
        let fields = ["CC: max-age=600", "Last-Modified: @-100"]
        try await origin.script(path, [broken(fields), answer(206, [Self.range], 100_000..<200_000)])
        #expect(try await bench.outcome(uri) == "source.unreachable")
        #expect(try await bench.outcome(uri, isFirstAttempt: false) == "fetched \(Self.whole)")
        #expect(try await requests[1]["if-range"] == HTTPDate.text(of: bench.clock.now().addingTimeInterval(-100)))
    }

    @Test func aServerWithoutRangesOrWithANewPictureSendsAllOfIt() async throws {
        try await origin.script(path, [broken(), answer(200, Self.tag)])
        #expect(try await bench.outcome(uri) == "source.unreachable")
        #expect(try await bench.outcome(uri, isFirstAttempt: false) == "fetched \(Self.whole)")
        #expect(try await requests.map { $0["range"] } == [nil, "bytes=100000-"])
        #expect(try keptFiles == [])
    }

    /// One of each kind that `PartialResponseTests` has, and what only a transfer shows.
    private static let lies: [(Int, [String], Range<Int>)] = [
        (206, ["ETag: \"a\"", "Content-Range: bytes 99999-199998/200000"], 99_999..<199_999),
        (206, ["ETag: \"a\"", "Content-Range: bytes 0-199999/200000"], 0..<200_000),
        (206, ["ETag: \"b\"", range], 100_000..<200_000),
        (206, ["ETag: \"a\"", "Content-Type: multipart/byteranges; boundary=x"], 100_000..<200_000),
        (206, ["ETag: \"a\"", range], 100_000..<199_999), (206, ["ETag: \"a\"", range], 100_000..<200_001),
        (206, ["ETag: \"a\"", range], 0..<0), (206, ["ETag: \"a\"", range, "Content-Encoding: br"], 100_000..<200_000),
        (416, ["Content-Range: bytes */100000"], 0..<0), (416, [], 0..<10),
    ]

    @Test(arguments: TestLength.few(lies.indices, whole: 9))
    func whatIsNotTheRestCostsADownloadFromTheBeginning(index: Int) async throws {
        let (status, fields, body) = Self.lies[index]
        try await origin.script(path, [broken(), answer(status, fields, body), answer(200, Self.tag)])
        #expect(try await bench.outcome(uri) == "source.unreachable")
        #expect(try await bench.outcome(uri, isFirstAttempt: false) == "fetched \(Self.whole)", "\(fields)")
        #expect(try await requests.map { $0["range"] } == [nil, "bytes=100000-", nil])
        #expect(try keptFiles == [])
    }

    /// Without a length, its end shows only when it comes.
    @Test(arguments: [(100_001, "fetched"), (99_999, "source.unreachable")])
    func aRestWithoutALengthIsCounted(count: Int, outcome: String) async throws {
        let data = Self.text(100_000..<(100_000 + count))
        var chunked = answer(206, ["ETag: \"a\"", Self.range, "Transfer-Encoding: chunked"])
        chunked.body = "\(String(count, radix: 16))\r\n\(data)\r\n0\r\n\r\n"
        try await origin.script(path, [broken(), chunked, answer(200, Self.tag)])
        #expect(try await bench.outcome(uri) == "source.unreachable")
        let second = try await bench.outcome(uri, isFirstAttempt: false)
        #expect(second == (outcome == "fetched" ? "fetched \(Self.whole)" : outcome))
        #expect(try await requests.count == (outcome == "fetched" ? 3 : 2))
    }

    @Test(arguments: [
        ["CC: max-age=600"], ["ETag: W/\"a\""], ["ETag: \"a\"", "Accept-Ranges: none"],
        ["ETag: \"a\"", "CC: no-store"], ["ETag: \"a\"", "CC: private"], ["Last-Modified: @-59"],
        ["ETag: \"a\"", "Vary: *"],
    ])
    func whatMayNotBeKeptOrResumedBeginsAnew(fields: [String]) async throws {
        try await origin.script(path, [broken(fields), answer(200, fields)])
        #expect(try await bench.outcome(uri) == "source.unreachable")
        #expect(try keptFiles == [])
        #expect(try await bench.outcome(uri, isFirstAttempt: false) == "fetched \(Self.whole)")
        #expect(try await requests.map { $0["range"] } == [nil, nil])
    }

    @Test func theLimitCountsTheWhole() async throws {
        try await origin.script(path, [broken(), answer(200, Self.tag)])
        #expect(try await bench.outcome(uri) == "source.unreachable")
        let strict = try bench.anotherFetcher { $0.maximumBytes = 150_000 }
        #expect(try await bench.outcome(uri, isFirstAttempt: false, with: strict) == "source.tooLarge")
        #expect(try await requests.map { $0["range"] } == [nil, nil])
    }

    @Test func otherCredentialsBeginAnew() async throws {
        try await origin.script(path, [broken(), answer(200, Self.tag)])
        #expect(try await bench.outcome(uri, headers: ["X-Token": "a"]) == "source.unreachable")
        let other = try await bench.outcome(uri, headers: ["X-Token": "b"], isFirstAttempt: false)
        #expect(other == "fetched \(Self.whole)")
        #expect(try await requests.map { $0["range"] } == [nil, nil])
    }

    @Test func theRestIsRequestedWhereARedirectLed() async throws {
        let start = "/scripted/start"
        try await origin.script(start, [answer(302, ["Location: \(path)"], 0..<0)])
        let rest = answer(206, ["ETag: \"a\"", Self.range], 100_000..<200_000)
        try await origin.script(path, [broken(), rest])
        #expect(try await bench.outcome(origin.url(start)) == "source.unreachable")
        #expect(try await bench.outcome(origin.url(start), isFirstAttempt: false) == "fetched \(Self.whole)")
        #expect(try await origin.requests(of: start).map { $0["range"] } == [nil, nil])
        #expect(try await requests.map { $0["range"] } == [nil, "bytes=100000-"])
    }

    @Test func keptBytesThatAreDamagedAreNotUsed() async throws {
        try await origin.script(path, [broken(), answer(200, Self.tag)])
        #expect(try await bench.outcome(uri) == "source.unreachable")
        let file = URL(filePath: bench.folder.path("store/blobs/tmp/\(try #require(keptFiles.first))"))
        var damaged = try Data(contentsOf: file)
        damaged[damaged.count - 1] ^= 1
        try damaged.write(to: file)
        #expect(try await bench.outcome(uri, isFirstAttempt: false) == "fetched \(Self.whole)")
        #expect(try await requests.map { $0["range"] } == [nil, nil])
    }

    /// A server in trouble says nothing about the picture.
    @Test func anErrorInBetweenKeepsWhatThereIs() async throws {
        let rest = answer(206, ["ETag: \"a\"", Self.range], 100_000..<200_000)
        try await origin.script(path, [broken(), answer(503, [], 0..<10), rest])
        #expect(try await bench.outcome(uri) == "source.unreachable")
        #expect(try await bench.outcome(uri, isFirstAttempt: false) == "source.httpStatus")
        #expect(try await bench.outcome(uri, isFirstAttempt: false) == "fetched \(Self.whole)")
    }
}
