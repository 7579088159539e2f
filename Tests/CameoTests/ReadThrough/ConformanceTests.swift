import CacheConformance
import CameoModel
import CameoSQLite
import CameoStore
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import Cameo

/// RFC 9111 over real HTTP: a real server that answers by a script, a session's loads and the store.
@Suite(.origin, .timeLimit(.minutes(10)))
struct ConformanceTests {
    @Test(arguments: TestLength.few(ConformanceRow.table.indices, 24))
    func table(index: Int) async throws {
        let row = ConformanceRow.table[index]
        let origin = try #require(OriginScope.current)
        try await row.check(try SessionSubject(row.rules, origin, "/scripted/row-\(index)"))
    }
}

private struct SessionSubject: CacheSubject {
    private let folder: TemporaryFolder
    private let clock = MovableClock()
    private let loader: ReadThroughLoader
    private let origin: Origin
    private let path: String

    init(_ rules: ConformanceRules, _ origin: Origin, _ path: String) throws {
        (self.origin, self.path) = (origin, path)
        folder = try TemporaryFolder()
        let now = clock.now
        let time = StoreClock(now: now, uptime: { Int64(now().timeIntervalSince1970 * 1_000) })
        loader = ReadThroughLoader(
            store: try SQLiteStore(at: folder.path("store"), clock: time),
            memory: BlobMemory(),
            rules: ReadThrough(
                defaultLifetime: rules.lifetime(for: "127.0.0.1"),
                staleIfError: rules.staleIfError
            ),
            settings: TransferSettings(.ephemeral),
            now: now
        )
    }

    func now() -> Date { clock.now() }
    func advance(_ seconds: Double) { clock.advance(seconds) }
    func script(_ answer: ScriptedAnswer) async throws { try await origin.script(path, answer) }
    func requests() async throws -> [[String: String]] { try await origin.requests(of: path) }

    func outcome(_ headers: [String: String]) async throws -> String {
        var request = URLRequest(url: try #require(URL(string: origin.url(path))))
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        do {
            let answer = try await loader.answer(to: request)
            return try text(of: answer)
        } catch is URLError {
            return "source.unreachable"
        }
    }

    private func text(of answer: Answer) throws -> String {
        let status = try #require(answer.response.value(forHTTPHeaderField: "Cache-Status"))
        let body = String(decoding: answer.body, as: UTF8.self)
        switch answer.response.statusCode {
        case 200 where status.contains("; hit"): return "\(status.contains("detail=\"") ? "stale" : "cached") \(body)"
        case 200: return "\(status.contains("fwd-status=304") ? "revalidated" : "fetched") \(body)"
        case 404: return "source.notFound"
        default: return "source.httpStatus"
        }
    }
}
