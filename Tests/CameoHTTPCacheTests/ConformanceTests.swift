import CacheConformance
import CameoHTTPCache
import CameoModel
import Foundation
import TestSupport
import Testing

/// RFC 9111 by the state machine alone: no network, no store.
@Suite(.timeLimit(.minutes(10)))
struct ConformanceTests {
    @Test(arguments: ConformanceRow.table.indices)
    func table(index: Int) async throws {
        let row = ConformanceRow.table[index]
        try await row.check(ModelCache(row.rules))
    }
}

/// Does what a ``CacheConversation`` says, in memory.
private actor ModelCache: CacheSubject {
    private let rules: ConformanceRules
    private var time = noon
    private var answer = ScriptedAnswer()
    private var asked: [[String: String]] = []
    private var kept: [CachedSource] = []
    private var bodies: [BlobDigest: String] = [:]
    private var number: Int64 = 0

    init(_ rules: ConformanceRules) {
        self.rules = rules
    }

    func now() -> Date { time }
    func advance(_ seconds: Double) { time += seconds }
    func script(_ answer: ScriptedAnswer) { self.answer = answer }
    func requests() -> [[String: String]] { asked }

    func outcome(_ headers: [String: String]) throws -> String {
        let url = try #require(URL(string: "http://127.0.0.1/picture"))
        let key = SourceKey(uri: url.text, scope: RequestScope(headers: headers))
        let policy = CachePolicy(
            for: key,
            defaultLifetime: rules.lifetime(for: "127.0.0.1"),
            staleIfError: rules.staleIfError
        )
        let request = CacheRequest(
            key: key,
            policy: policy,
            use: .fresh,
            target: url,
            fields: HTTPFields(headers.map { HTTPFields.Line(name: $0.key, value: $0.value) }),
            maximumRedirects: 5,
            sent: { SentFields($0.fields) }
        )
        var conversation = CacheConversation(request, stored: kept.filter { $0.key == key })
        var action = conversation.begin(at: time)
        while true {
            switch action {
            case .read: action = conversation.read(.whole)
            case .goOnline:
                number += 1
                action = conversation.goOnline(as: number)
            case .ask(let query): action = ask(query, &conversation)
            case .end(let changes, let outcome):
                for change in changes { make(change) }
                return text(of: outcome)
            }
        }
    }

    private func ask(
        _ query: CacheConversation<URL>.Query,
        _ conversation: inout CacheConversation<URL>
    ) -> CacheConversation<URL>.Action {
        let lines = query.route.stop.fields.lines + query.validators.lines
        asked.append(Dictionary(lines.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 }))
        guard !answer.hangup else { return conversation.failed(at: time) }
        let head = CacheableResponse(
            status: answer.status,
            fields: HTTPFields(answer.headers.map { HTTPFields.Line(name: $0[0], value: $0[1]) }),
            requestTime: time,
            responseTime: time
        )
        let body = answer.body
        let digest = BlobDigest(of: Data(body.utf8))
        bodies[digest] = body
        return conversation.answered(head, from: [], at: time) { (digest, body.utf8.count) }
    }

    private func make(_ change: CacheChange) {
        switch change {
        case .store(let source), .freshen(let source):
            kept.removeAll { $0.key == source.key && $0.variant == source.variant }
            kept.insert(source, at: 0)
        case .drop(let source): kept.removeAll { $0.key == source.key && $0.variant == source.variant }
        case .invalidate(let uri): kept.removeAll { $0.key.uri == uri }
        }
    }

    private func text(of outcome: CacheOutcome) -> String {
        switch outcome {
        case .stored(let source, let use):
            let body = bodies[source.blob] ?? ""
            return switch use {
            case .fresh: "cached \(body)"
            case .refreshing: "refreshing \(body)"
            case .validated: "revalidated \(body)"
            case .stale: "stale \(body)"
            }
        case .received:
            return switch answer.status {
            case 200: "fetched \(answer.body)"
            case 404: "source.notFound"
            default: "source.httpStatus"
            }
        case .unreachable: return "source.unreachable"
        case .nothingStored, .onlyIfCached, .redirect: return "\(outcome)"
        }
    }
}
