import CacheConformance
import CameoFetch
import CameoHTTPCache
import CameoModel
import CameoSQLite
import CameoStore
import CameoWorker
import Foundation
import TestSupport
import Testing

/// Cached answers while the network, a server or its pictures are gone.
@Suite(.timeLimit(.minutes(10)))
struct OfflineTests {
    private let origin: Origin
    private let bench: CacheBench
    private let uri: String

    init() async throws {
        origin = try await Origin.start()
        bench = try CacheBench()
        uri = origin.url("/scripted/a")
    }

    private func answer(_ fields: String..., body: String = "first") async throws {
        try await origin.script(
            "/scripted/a",
            ScriptedAnswer(200, ConformanceRow.dated(fields, at: bench.clock.now()), body: body)
        )
    }

    @Test func aCachedPictureIsServedWhenItsServerIsGone() async throws {
        try await answer("CC: max-age=60")
        #expect(try await bench.outcome(uri) == "fetched first")
        await origin.end()
        bench.clock.advance(1_000)
        let source = try await bench.fetch(uri)
        #expect(try source.text() == "first")
        #expect(source.sourceSeen == 1)
        guard case .stale(let age, let trouble) = source.arrival else {
            Issue.record("\(source.arrival)")
            return
        }
        #expect(abs(age.components.seconds - 1_000) <= 1)
        #expect(trouble.hasPrefix("\(uri) cannot be reached: "))
    }

    /// What its server has removed is not served again; it outlives an error of the moment.
    @Test(arguments: [404, 410, 401, 403, 451, 408, 429, 500])
    func theStatusOfAnErrorSaysWhetherAPictureIsServedAgain(status: Int) async throws {
        let isOfTheMoment = [408, 429, 500].contains(status)
        try await answer("CC: max-age=60")
        #expect(try await bench.outcome(uri) == "fetched first")
        bench.clock.advance(61)
        try await origin.script("/scripted/a", ScriptedAnswer(status))
        let outcome = try await bench.outcome(uri)
        #expect(isOfTheMoment ? outcome == "source.httpStatus" : outcome != "stale first")
        await origin.end()
        let later = try await bench.outcome(uri, isFirstAttempt: false)
        #expect(later == (isOfTheMoment ? "stale first" : "source.unreachable"))
    }

    /// Otherwise every job would wait for the same failing connection.
    @Test func anUnreachableServerIsNotAskedAgainAtOnce() async throws {
        try await answer("CC: max-age=60")
        _ = try await bench.fetch(uri)
        bench.clock.advance(61)
        try await origin.script("/scripted/a", .hangup)
        #expect(try await bench.outcome(uri) == "stale first")
        let asked = try await origin.requests(of: "/scripted/a").count
        #expect(try await bench.outcome(uri) == "stale first")
        #expect(try await origin.requests(of: "/scripted/a").count == asked)
        try await answer("CC: max-age=60", body: "second")
        #expect(try await bench.outcome(uri, isFirstAttempt: false) == "fetched second")
    }

    @Test func anUntrustedCertificateDoesNotCountAsUnreachable() async throws {
        let folder = try TemporaryFolder()
        let secure = try await Origin.start(tls: folder.path)
        let uri = secure.url("/scripted/a", host: "localhost")
        let answers = StoredAnswers(store: bench.store, budget: 1 << 20, logger: bench.log.logger)
        let trusting = try CacheBench.fetcher(CacheRules(), bench.clock, answers) {
            $0.certificateAuthorityFile = folder.path("origin.pem")
        }
        try await secure.script("/scripted/a", ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "first"))
        #expect(try await bench.outcome(uri, with: trusting) == "fetched first")
        bench.clock.advance(61)
        #expect(try await bench.outcome(uri) == "source.unreachable")
        #expect(try await bench.outcome(uri, isFirstAttempt: false, with: trusting) == "fetched first")
    }

    @Test func onlyIfCachedNeverAsks() async throws {
        let headers = ["Cache-Control": "only-if-cached"]
        try await answer("CC: max-age=60")
        #expect(try await bench.outcome(uri, headers: headers) == "source.httpStatus")
        #expect(try await origin.requests(of: "/scripted/a").isEmpty)
    }

    @Test(.serialized, arguments: [300, 200_000])
    func aDamagedCopyIsFetchedAnew(bytes: Int) async throws {
        let body = String(repeating: "x", count: bytes)
        try await answer("CC: max-age=60", body: body)
        let digest = try await bench.fetch(uri).digest
        // Small blobs are in the database, large ones in files.
        if bytes > 100_000 {
            try Data("damaged".utf8).write(to: URL(filePath: bench.blobFile(digest)))
        } else {
            try await bench.sql("UPDATE blob SET data = zeroblob(size) WHERE digest = '\(digest.hex)';")
        }
        #expect(try await bench.outcome(uri) == "fetched \(body)")
        #expect(bench.log.lines.contains { $0.contains("dropped a cached source that is damaged") })
        #expect(try await bench.outcome(uri) == "cached \(body)")
        #expect(try await origin.requests(of: "/scripted/a").count == 2)
    }

    /// Damaged bytes are dropped even though nothing can replace them.
    @Test func aDamagedCopyIsDroppedEvenIfItsServerIsUnreachable() async throws {
        try await answer("CC: max-age=60")
        let digest = try await bench.fetch(uri).digest
        try await bench.sql("UPDATE blob SET data = zeroblob(size) WHERE digest = '\(digest.hex)';")
        await origin.end()
        #expect(try await bench.outcome(uri) == "source.unreachable")
        #expect(try await bench.store.cachedSources(SourceKey(uri: uri, scope: nil)).isEmpty)
    }

    @Test func aMissingCopyIsFetchedAnewWithoutValidators() async throws {
        let body = String(repeating: "x", count: 200_000)
        try await answer("CC: max-age=60", "ETag: \"v1\"", body: body)
        let digest = try await bench.fetch(uri).digest
        try FileManager.default.removeItem(atPath: bench.blobFile(digest))
        bench.clock.advance(61)
        #expect(try await bench.outcome(uri) == "fetched \(body)")
        #expect(try await origin.requests(of: "/scripted/a").last?["if-none-match"] == nil)
    }

    /// An answer that is not a picture fails its jobs later, and is cached like any other.
    @Test func answersAreCachedWhateverTheyContain() async throws {
        try await answer("CC: max-age=60", "Content-Type: text/html; Charset=\"ISO-8859-1\"", body: "<html>")
        #expect(try await bench.outcome(uri) == "fetched <html>")
        let source = try await bench.fetch(uri)
        #expect(source.arrival.name == "cached")
        #expect(source.mediaType == "text/html")
        let kept = try await bench.store.cachedSource(uri)
        #expect(kept.textEncoding == "iso-8859-1")
        #expect(kept.finalURL == uri)
    }

    @Test func anAnswerWithTooManyFieldsIsNotCached() async throws {
        let flood = (0..<300).map { "X-Flood-\($0): x" }
        try await origin.script(
            "/scripted/a",
            ScriptedAnswer(200, ["Cache-Control: max-age=60"] + flood, body: "first")
        )
        #expect(try await bench.outcome(uri) == "fetched first")
        #expect(try await bench.outcome(uri) == "fetched first")
    }

    @Test func cookiesAreNotCached() async throws {
        try await answer("CC: max-age=60", "Set-Cookie: a=secret", "X-Kept: yes")
        _ = try await bench.fetch(uri)
        let names = try await bench.store.cachedSource(uri).head.fields.lines.map { $0.name.lowercased() }
        #expect(names.contains("x-kept"))
        #expect(!names.contains("set-cookie"))
    }
}

extension CacheBench {
    @discardableResult
    func sql(_ text: String) async throws -> String {
        let script = ".timeout 120000\nPRAGMA wal_autocheckpoint=0;\n\(text)\n"
        let result = try await run("sqlite3", [folder.path("store/cameo.sqlite")], input: Data(script.utf8))
        try #require(result.exitStatus == 0, "\(result.errorText)")
        return result.outputText
    }
}
