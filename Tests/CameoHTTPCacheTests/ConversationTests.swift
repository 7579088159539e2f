import CameoHTTPCache
import CameoModel
import Foundation
import Testing

@Suite("One request through a cache, event by event", .timeLimit(.minutes(10)))
struct ConversationTests {
    private typealias Conversation = CacheConversation<URL>

    private let target: URL
    private let key: SourceKey
    private let digest = BlobDigest(of: Data("picture".utf8))

    init() throws {
        target = try #require(URL(string: "http://example.com/picture"))
        key = SourceKey(uri: target.text, scope: nil)
    }

    private func request(
        _ method: String = "GET",
        _ lines: String...,
        use: CacheUse = .fresh,
        isOpenedByOperator: Bool = false
    ) -> CacheRequest<URL> {
        CacheRequest(
            method,
            key: key,
            policy: shared,
            use: use,
            target: target,
            fields: fields(lines),
            maximumRedirects: 5,
            sent: { SentFields($0.fields, isOpenedByOperator: isOpenedByOperator) }
        )
    }

    /// A picture that came at noon.
    private func kept(_ lines: String..., redirects: [CacheableResponse] = [], at url: String? = nil) -> CachedSource {
        CachedSource(
            key: key,
            finalURL: url ?? target.text,
            head: answer(lines),
            redirects: redirects,
            freshUntil: noon,
            blob: digest,
            bytes: 7,
            sourceSeen: 1,
            peers: []
        )
    }

    /// What the machine says to an answer that it has asked for, having read what it wanted to read.
    private func end(
        _ conversation: inout Conversation,
        _ answers: CacheableResponse?...,
        reading: Conversation.Reading = .whole,
        at now: Date = noon + 100
    ) throws -> (changes: [CacheChange], outcome: CacheOutcome, asked: [Conversation.Query]) {
        var action = conversation.begin(at: now)
        var (answers, asked) = (answers[...], [Conversation.Query]())
        while true {
            switch action {
            case .read: action = conversation.read(reading)
            case .goOnline: action = conversation.goOnline(as: 2)
            case .ask(let query):
                asked.append(query)
                let next = try #require(answers.first)
                answers = answers.dropFirst()
                action =
                    if let next {
                        conversation.answered(next, from: [], at: now) { (digest, 7) }
                    } else {
                        conversation.failed(at: now)
                    }
            case .end(let changes, let outcome): return (changes, outcome, asked)
            }
        }
    }

    @Test func aFreshAnswerIsServedWithoutTheNetwork() throws {
        let old = kept("Cache-Control: max-age=600")
        var conversation = Conversation(request(), stored: [old])
        let end = try end(&conversation)
        #expect(end.outcome == .stored(old, .fresh(age: .seconds(100))))
        #expect(end.changes.isEmpty && end.asked.isEmpty)
    }

    @Test func bytesThatAreGoneAreAskedForWithoutValidators() throws {
        var conversation = Conversation(request(), stored: [kept("Cache-Control: max-age=0", "ETag: \"1\"")])
        let end = try end(&conversation, answer("Cache-Control: max-age=60"), reading: .gone)
        #expect(end.outcome == .received)
        #expect(end.asked.map(\.validators) == [HTTPFields()])
    }

    /// Statuses that end what is kept, and those that tell nothing about the picture.
    @Test(
        arguments: [201, 203, 204, 401, 402, 403, 404, 410, 451].map { ($0, true) }
            + [206, 300, 302, 304, 400, 405, 407, 408, 409, 412, 416, 421, 425, 429, 431, 500, 501, 502, 503, 504]
            .map { ($0, false) }
    )
    func anAnswerThatIsNotStoredMayEndWhatIsKept(status: Int, isDropped: Bool) throws {
        let old = kept("Cache-Control: max-age=0, must-revalidate")
        var conversation = Conversation(request(), stored: [old])
        let end = try end(&conversation, answer(status: status))
        #expect(end.outcome == .received)
        #expect(end.changes == (isDropped ? [.drop(old)] : []))
    }

    @Test func aPictureThatMustNotBeStoredEndsWhatIsKept() throws {
        let old = kept("Cache-Control: max-age=0")
        var conversation = Conversation(request(), stored: [old])
        #expect(try end(&conversation, answer("Cache-Control: no-store")).changes == [.drop(old)])
    }

    @Test func aReloadNeitherServesNorValidatesButEndsWhatIsKept() throws {
        let old = kept("Cache-Control: max-age=600", "ETag: \"1\"")
        let cases: [(CacheableResponse?, [CacheChange])] = [(answer(status: 404), [.drop(old)]), (nil, [])]
        for (next, changes) in cases {
            var conversation = Conversation(request(use: .reload), stored: [old])
            let end = try end(&conversation, next)
            #expect(end.asked.map(\.validators) == [HTTPFields()])
            #expect(end.changes == changes)
            #expect(end.outcome == (next == nil ? .unreachable : .received))
        }
    }

    @Test func whoInsistsOnTheServersWordGetsNoStaleAnswer() throws {
        for (use, outcome) in [
            (CacheUse.validated, CacheOutcome.unreachable),
            (.fresh, .stored(kept("Cache-Control: max-age=60"), .stale(age: .seconds(100)))),
        ] {
            var conversation = Conversation(request(use: use), stored: [kept("Cache-Control: max-age=60")])
            #expect(try end(&conversation, nil).outcome == outcome)
        }
    }

    @Test func whoWantsNoNetworkIsNeverSentThere() throws {
        for (request, outcome) in [
            (request(use: .only), CacheOutcome.nothingStored),
            (request("GET", "Cache-Control: only-if-cached"), .onlyIfCached),
        ] {
            var conversation = Conversation(request, stored: [])
            #expect(try end(&conversation).outcome == outcome)
        }
        let old = kept("Cache-Control: max-age=0")
        for use in [CacheUse.only, .anyAge] {
            var conversation = Conversation(request(use: use), stored: [old])
            #expect(try end(&conversation).outcome == .stored(old, .fresh(age: .seconds(100))))
        }
    }

    /// An entity tag says something to the server alone that gave it.
    @Test func validatorsGoToWhereTheBytesCameFromAlone() throws {
        let moved = answer("Location: /end", "Cache-Control: max-age=600", status: 301)
        let old = kept("ETag: \"1\"", "Cache-Control: max-age=0", redirects: [moved], at: "http://example.com/end")
        var conversation = Conversation(request(), stored: [old])
        let end = try end(&conversation, moved, answer("ETag: \"1\"", "Cache-Control: max-age=60", status: 304))
        #expect(end.asked.map { $0.validators["If-None-Match"] } == [nil, "\"1\""])
        guard case .freshen(let answer) = try #require(end.changes.first) else {
            Issue.record("\(end.changes)")
            return
        }
        #expect(answer.sourceSeen == 2 && answer.blob == old.blob)
    }

    @Test func aNotModifiedAboutOtherBytesIsAskedAboutAgainFromTheTargetOn() throws {
        var conversation = Conversation(request(), stored: [kept("ETag: \"1\"", "Cache-Control: max-age=0")])
        let end = try end(
            &conversation,
            answer("ETag: \"2\"", status: 304),
            answer("Cache-Control: max-age=60")
        )
        #expect(end.asked.map { $0.validators["If-None-Match"] } == ["\"1\"", nil])
        #expect(end.outcome == .received && end.changes.count == 1)
    }

    @Test func anAnswerWithoutANumberIsNotStored() {
        var conversation = Conversation(request(), stored: [])
        _ = conversation.begin(at: noon)
        _ = conversation.goOnline(as: nil)
        let action = conversation.answered(answer("Cache-Control: max-age=60"), from: [], at: noon) {
            Issue.record("its bytes are not hashed")
            return nil
        }
        guard case .end(let changes, .received) = action else {
            Issue.record("\(action)")
            return
        }
        #expect(changes.isEmpty)
    }

    /// It is in no request's scope: others would find the answer.
    @Test func whatTheOperatorsFieldsOpenIsStoredOnlyIfTheAnswerIsForAll() throws {
        for (directives, isStored) in [("max-age=60", false), ("public, max-age=60", true)] {
            let tenant = SourceKey(uri: target.text, scope: RequestScope(headers: ["X-Tenant": "a"]))
            let request = CacheRequest(
                key: tenant,
                policy: oneTenant,
                use: .fresh,
                target: target,
                fields: fields(["X-Tenant: a"]),
                maximumRedirects: 5,
                sent: { SentFields($0.fields, isOpenedByOperator: true) }
            )
            var conversation = Conversation(request, stored: [])
            #expect(try end(&conversation, answer("Cache-Control: \(directives)")).changes.isEmpty != isStored)
        }
    }

    @Test(arguments: [("HEAD", "X: y"), ("GET", "Range: bytes=0-1"), ("GET", "If-Match: \"1\"")])
    func whatAsksForNoWholeAnswerIsPassedOn(method: String, line: String) throws {
        let old = kept("Cache-Control: max-age=0", "ETag: \"1\"")
        var conversation = Conversation(request(method, line, "If-None-Match: \"2\""), stored: [old])
        let end = try end(&conversation, answer("Cache-Control: max-age=60"))
        #expect(end.changes.isEmpty && end.outcome == .received)
        #expect(end.asked[0].route.stop.fields["If-None-Match"] == "\"2\"")
    }

    @Test func theRequestersValidatorsAreNotSentForAWholeAnswer() throws {
        var conversation = Conversation(request("GET", "If-None-Match: \"2\""), stored: [])
        let end = try end(&conversation, answer("Cache-Control: max-age=60"))
        #expect(end.asked[0].route.stop.fields["If-None-Match"] == nil)
    }

    @Test func tooManyRedirectsFail() throws {
        var conversation = Conversation(request(), stored: [])
        let loop = answer("Location: /picture", status: 302)
        let end = try end(&conversation, loop, loop, loop, loop, loop, loop)
        #expect(end.outcome == .redirect(.tooMany(location: "/picture")))
    }

    // MARK: - Unsafe methods

    @Test(arguments: ["PUT", "POST", "DELETE", "PATCH", "PURGE"], [200, 201, 204, 302, 400, 403, 500])
    func anUnsafeMethodThatIsNoErrorInvalidatesItsTarget(method: String, status: Int) throws {
        var conversation = Conversation(request(method), stored: [kept("Cache-Control: max-age=600")])
        let end = try end(&conversation, answer(status: status))
        #expect(end.outcome == .received && end.asked.count == 1)
        #expect(end.changes == (status < 400 ? [.invalidate(uri: target.text)] : []))
    }

    @Test func itInvalidatesWhatTheAnswerNamesOfItsOwnOriginAlone() throws {
        for (origin, isInvalidated) in [
            ("", true), ("http://example.com:80", true), ("http://EXAMPLE.com", true), ("https://example.com", false),
            ("http://example.com:81", false), ("http://example.org", false),
        ] {
            var conversation = Conversation(request("POST"), stored: [])
            let created = answer("Location: \(origin)/new", "Content-Location: \(origin)/list", status: 201)
            let uris = try end(&conversation, created).changes.map { change in
                if case .invalidate(let uri) = change { uri } else { "" }
            }
            #expect(uris.count == (isInvalidated ? 3 : 1), "\(origin)")
            #expect(uris.contains { $0.hasSuffix("/new") } == isInvalidated)
            #expect(uris.contains { $0.hasSuffix("/list") } == isInvalidated)
        }
    }

    @Test func aFormThatIsAnsweredByARedirectEndsAsAGET() throws {
        var conversation = Conversation(request("POST", "Content-Type: text/plain", "Accept: image/png"), stored: [])
        let end = try end(
            &conversation,
            answer("Location: /done", status: 303),
            answer("Cache-Control: max-age=60", "Content-Location: /other")
        )
        try #require(end.asked.map(\.route.method) == ["POST", "GET"])
        #expect(end.asked[1].route.stop.fields == fields(["Accept: image/png"]))
        #expect(end.changes == ["picture", "done"].map { .invalidate(uri: "http://example.com/\($0)") })
    }

    @Test func whatWasChangedBeforeTheNetworkWentIsInvalidated() throws {
        var conversation = Conversation(request("DELETE"), stored: [])
        let end = try end(&conversation, answer("Location: /done", status: 307), nil)
        #expect(end.asked.map(\.route.method) == ["DELETE", "DELETE"])
        #expect(end.outcome == .unreachable)
        #expect(end.changes.contains(.invalidate(uri: target.text)))
    }

    @Test(arguments: ["OPTIONS", "HEAD", "TRACE"])
    func aSafeMethodInvalidatesNothing(method: String) throws {
        var conversation = Conversation(request(method), stored: [])
        #expect(try end(&conversation, answer(status: 200)).changes.isEmpty)
    }
}
