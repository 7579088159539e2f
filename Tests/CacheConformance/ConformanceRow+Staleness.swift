internal import TestSupport

extension ConformanceRow {
    private static let unavailable = ScriptedAnswer(503)

    /// Section 4.2.4, RFC 5861: stale answers.
    static let staleness: [ConformanceRow] = [
        row("4.2.4", "a server that is away", ["CC: max-age=60"], after: 1_000, then: .hangup, .stale),
        row(
            "4.2.4",
            "a fault is no absence",
            ["CC: max-age=60"],
            after: 61,
            then: unavailable,
            .failed("source.httpStatus")
        ),
        row(
            "5.2.2.2",
            "must-revalidate: never stale",
            ["CC: max-age=60, must-revalidate"],
            after: 61,
            then: .hangup,
            .failed("source.unreachable")
        ),
        row(
            "5.2.2.2",
            "must-revalidate: fresh all the same",
            ["CC: max-age=60, must-revalidate"],
            after: 59,
            then: .hangup,
            .cached
        ),
        row(
            "5.2.2.8",
            "proxy-revalidate binds a shared cache",
            ["CC: max-age=60, proxy-revalidate"],
            after: 61,
            then: .hangup,
            .failed("source.unreachable")
        ),
        row(
            "5.2.2.8",
            "and no private one",
            ["CC: max-age=60, proxy-revalidate"],
            request: ["Cookie": "a=1"],
            after: 61,
            then: .hangup,
            .stale
        ),
        row(
            "5.2.2.10",
            "s-maxage does as proxy-revalidate",
            ["CC: s-maxage=60"],
            after: 61,
            then: .hangup,
            .failed("source.unreachable")
        ),
        row(
            "5.2.2.4",
            "no-cache is never stale",
            ["CC: no-cache", "ETag: \"v1\"", "Last-Modified: @-1000"],
            after: 1,
            then: .hangup,
            .failed("source.unreachable")
        ),
        row(
            "RFC 5861, 4",
            "stale-if-error: within",
            ["CC: max-age=60, stale-if-error=600"],
            after: 659,
            then: unavailable,
            .stale
        ),
        row(
            "RFC 5861, 4",
            "stale-if-error: beyond",
            ["CC: max-age=60, stale-if-error=600"],
            after: 661,
            then: unavailable,
            .failed("source.httpStatus")
        ),
        row(
            "RFC 5861, 4",
            "500 is such an error",
            ["CC: max-age=60, stale-if-error=600"],
            after: 61,
            then: ScriptedAnswer(500),
            .stale
        ),
        row(
            "RFC 5861, 4",
            "501 is none",
            ["CC: max-age=60, stale-if-error=600"],
            after: 61,
            then: ScriptedAnswer(501),
            .failed("source.httpStatus")
        ),
        row(
            "RFC 5861, 4",
            "502 is one",
            ["CC: max-age=60, stale-if-error=600"],
            after: 61,
            then: ScriptedAnswer(502),
            .stale
        ),
        row(
            "RFC 5861, 4",
            "504 is one",
            ["CC: max-age=60, stale-if-error=600"],
            after: 61,
            then: ScriptedAnswer(504),
            .stale
        ),
        row(
            "RFC 5861, 4",
            "429 is none",
            ["CC: max-age=60, stale-if-error=600"],
            after: 61,
            then: ScriptedAnswer(429),
            .failed("source.httpStatus")
        ),
        row(
            "RFC 5861, 4",
            "404 says that it is gone",
            ["CC: max-age=60, stale-if-error=600"],
            after: 61,
            then: ScriptedAnswer(404),
            .failed("source.notFound")
        ),
        row(
            "RFC 5861, 4",
            "a request may allow it",
            ["CC: max-age=60"],
            request: ["Cache-Control": "stale-if-error=600"],
            after: 659,
            then: unavailable,
            .stale
        ),
        row(
            "RFC 5861, 4",
            "must-revalidate overrules it",
            ["CC: max-age=60, stale-if-error=600, must-revalidate"],
            after: 61,
            then: unavailable,
            .failed("source.httpStatus")
        ),
        row(
            "--stale-if-error",
            "the operator's leave: within",
            ["CC: max-age=60"],
            rules: .staleIfError(600),
            after: 659,
            then: unavailable,
            .stale
        ),
        row(
            "--stale-if-error",
            "the operator's leave: beyond",
            ["CC: max-age=60"],
            rules: .staleIfError(600),
            after: 661,
            then: unavailable,
            .failed("source.httpStatus")
        ),
        row(
            "--stale-if-error",
            "must-revalidate overrules it",
            ["CC: max-age=60, must-revalidate"],
            rules: .staleIfError(600),
            after: 61,
            then: unavailable,
            .failed("source.httpStatus")
        ),
    ]

    /// Section 4.1: Vary.
    static let variants: [ConformanceRow] = [
        row(
            "4.1",
            "the same request matches",
            ["CC: max-age=60", "Vary: Accept, User-Agent, Accept-Encoding"],
            .cached
        ),
        row(
            "4.1",
            "a header that is not named does not matter to it",
            ["CC: max-age=60", "Vary: Accept-Language"],
            request: ["Accept": "image/webp"],
            .cached
        ),
    ]

    /// --cache-time
    static let injected: [ConformanceRow] = [
        row(
            "--cache-time",
            "for an answer that says nothing: within",
            [],
            rules: .lifetime(86_400),
            after: 86_399,
            .cached
        ),
        row("--cache-time", "beyond", [], rules: .lifetime(86_400), after: 86_401, .fetched),
        row(
            "--cache-time",
            "overrules the heuristics",
            ["Last-Modified: @-1000000"],
            rules: .lifetime(60),
            after: 61,
            .revalidated(["If-Modified-Since": "@-1000000"])
        ),
        row(
            "--cache-time",
            "not for an answer that says something",
            ["CC: max-age=60"],
            rules: .lifetime(86_400),
            after: 61,
            .fetched
        ),
        row("--cache-time", "nor one that says no-store", ["CC: no-store"], rules: .lifetime(86_400), .fetched),
        row("--cache-time", "nor an Expires that is over", ["Expires: @-60"], rules: .lifetime(86_400), .fetched),
        row("--cache-time", "for one host", [], rules: .lifetime(86_400, host: "127.0.0.1"), after: 86_399, .cached),
        row("--cache-time", "for another host", [], rules: .lifetime(86_400, host: "example.com"), .fetched),
    ]
}
