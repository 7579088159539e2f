internal import TestSupport

extension ConformanceRow {
    private static let away = Second.failed("source.unreachable")
    private static let refused = Second.failed("source.httpStatus")
    private static let tolerant = "max-age=60, stale-if-error=600"
    private static let cookie = ["Cookie": "a=1"]

    /// The server answers the second time with a status, or hangs up; by default a minute after an answer that was fresh for
    /// one.
    private static func late(
        _ section: String,
        _ rule: String,
        _ directives: String,
        status: Int? = nil,
        request: [String: String] = [:],
        rules: ConformanceRules = ConformanceRules(),
        after: Double = 61,
        _ second: Second
    ) -> ConformanceRow {
        let (answer, then) = (["CC: \(directives)"], status.map { ScriptedAnswer($0) } ?? .hangup)
        return row(section, rule, answer, request: request, rules: rules, after: after, then: then, second)
    }

    /// Statuses of a response, and what they come to where stale-if-error would allow a stale one.
    private static let errors: [(Int, Second)] = [
        (500, .stale), (501, refused), (502, .stale), (504, .stale), (429, refused),
    ]

    /// What is said beside max-age=60, seconds, and what --stale-if-error makes of it.
    private static let leaves: [(String, Double, Second)] = [
        ("", 659, .stale), ("", 661, refused), (", must-revalidate", 61, refused),
    ]

    /// Section 4.2.4, RFC 5861: stale answers.
    static let staleness: [ConformanceRow] = absences + errorRows + leaveRows

    private static let errorRows: [ConformanceRow] = errors.map { status, second in
        late("RFC 5861, 4", "\(status) as an error", tolerant, status: status, second)
    }

    private static let leaveRows: [ConformanceRow] = leaves.map { more, after, second in
        let (rule, rules) = ("the operator's leave\(more), \(after)", ConformanceRules.staleIfError(600))
        return late("--stale-if-error", rule, "max-age=60\(more)", status: 503, rules: rules, after: after, second)
    }

    private static let absences: [ConformanceRow] = [
        late("4.2.4", "a server that is away", "max-age=60", after: 1_000, .stale),
        late("4.2.4", "a fault is no absence", "max-age=60", status: 503, refused),
        late("5.2.2.2", "must-revalidate: never stale", "max-age=60, must-revalidate", away),
        late("5.2.2.2", "must-revalidate: fresh all the same", "max-age=60, must-revalidate", after: 59, .cached),
        late("5.2.2.8", "proxy-revalidate binds a shared cache", "max-age=60, proxy-revalidate", away),
        late("5.2.2.8", "and no private one", "max-age=60, proxy-revalidate", request: cookie, .stale),
        late("5.2.2.10", "s-maxage does as proxy-revalidate", "s-maxage=60", away),
        row(
            "5.2.2.4",
            "no-cache is never stale",
            ["CC: no-cache", "ETag: \"v1\"", "Last-Modified: @-1000"],
            after: 1,
            then: .hangup,
            away
        ),
        late("RFC 5861, 4", "stale-if-error: within", tolerant, status: 503, after: 659, .stale),
        late("RFC 5861, 4", "stale-if-error: beyond", tolerant, status: 503, after: 661, refused),
        late("RFC 5861, 4", "404 says that it is gone", tolerant, status: 404, .failed("source.notFound")),
        late(
            "RFC 5861, 4",
            "a request may allow it",
            "max-age=60",
            status: 503,
            request: ["Cache-Control": "stale-if-error=600"],
            after: 659,
            .stale
        ),
        late("RFC 5861, 4", "must-revalidate overrules it", "\(tolerant), must-revalidate", status: 503, refused),
    ]

    /// Section 4.1: Vary.
    static let variants: [ConformanceRow] = [
        row("4.1", "the same request", ["CC: max-age=60", "Vary: Accept, User-Agent, Accept-Encoding"], .cached),
        row(
            "4.1",
            "a header that is not named does not matter to it",
            ["CC: max-age=60", "Vary: Accept-Language"],
            request: ["Accept": "image/webp"],
            .cached
        ),
    ]

    private static func injected(
        _ rule: String,
        to answer: String? = nil,
        lifetime: Int = 86_400,
        host: String? = nil,
        after: Double = 0,
        _ second: Second
    ) -> ConformanceRow {
        row(
            "--cache-time",
            rule,
            answer.map { [$0] } ?? [],
            rules: .lifetime(lifetime, host: host),
            after: after,
            second
        )
    }

    /// --cache-time
    static let injected: [ConformanceRow] = [
        injected("for an answer that says nothing: within", after: 86_399, .cached),
        injected("beyond", after: 86_401, .fetched),
        injected(
            "overrules the heuristics",
            to: "Last-Modified: @-1000000",
            lifetime: 60,
            after: 61,
            .revalidated(["If-Modified-Since": "@-1000000"])
        ),
        injected("not for an answer that says something", to: "CC: max-age=60", after: 61, .fetched),
        injected("nor one that says no-store", to: "CC: no-store", .fetched),
        injected("nor an Expires that is over", to: "Expires: @-60", .fetched),
        injected("for one host", host: "127.0.0.1", after: 86_399, .cached),
        injected("for another host", host: "example.com", .fetched),
    ]
}
