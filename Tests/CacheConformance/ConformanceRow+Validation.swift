internal import TestSupport

extension ConformanceRow {
    static let etag = ["If-None-Match": "\"v1\""]

    /// Section 5.2.1: what a request asks of the cache.
    static let requests: [ConformanceRow] = [
        row(
            "5.2.1.1",
            "max-age: young enough",
            ["CC: max-age=60"],
            request: ["Cache-Control": "max-age=30"],
            after: 29,
            .cached
        ),
        row(
            "5.2.1.1",
            "max-age: too old",
            ["CC: max-age=60"],
            request: ["Cache-Control": "max-age=30"],
            after: 31,
            .fetched
        ),
        row(
            "5.2.1.2",
            "max-stale: not too stale",
            ["CC: max-age=60"],
            request: ["Cache-Control": "max-stale=30"],
            after: 89,
            .cached
        ),
        row(
            "5.2.1.2",
            "max-stale: too stale",
            ["CC: max-age=60"],
            request: ["Cache-Control": "max-stale=30"],
            after: 91,
            .fetched
        ),
        row(
            "5.2.1.2",
            "max-stale does not undo must-revalidate",
            ["CC: max-age=60, must-revalidate"],
            request: ["Cache-Control": "max-stale"],
            after: 61,
            .fetched
        ),
        row(
            "5.2.1.3",
            "min-fresh: enough is left",
            ["CC: max-age=60"],
            request: ["Cache-Control": "min-fresh=30"],
            after: 29,
            .cached
        ),
        row(
            "5.2.1.3",
            "min-fresh: too little is left",
            ["CC: max-age=60"],
            request: ["Cache-Control": "min-fresh=30"],
            after: 31,
            .fetched
        ),
        row(
            "5.2.1.4",
            "no-cache asks the server",
            ["CC: max-age=60", "ETag: \"v1\""],
            request: ["Cache-Control": "no-cache"],
            .revalidated(etag)
        ),
        row(
            "5.4",
            "so does Pragma alone",
            ["CC: max-age=60", "ETag: \"v1\""],
            request: ["Pragma": "no-cache"],
            .revalidated(etag)
        ),
        row("5.2.1.5", "no-store keeps nothing", ["CC: max-age=60"], request: ["Cache-Control": "no-store"], .fetched),
    ]

    /// Section 4.3: validation.
    static let validation: [ConformanceRow] = [
        row("4.3.1", "by ETag", ["CC: max-age=60", "ETag: \"v1\""], after: 61, .revalidated(etag)),
        row(
            "4.3.1",
            "by a weak ETag, word for word",
            ["CC: max-age=60", "ETag: W/\"v1\""],
            after: 61,
            .revalidated(["If-None-Match": "W/\"v1\""])
        ),
        row(
            "4.3.1",
            "by Last-Modified",
            ["CC: max-age=60", "Last-Modified: @-1000"],
            after: 61,
            .revalidated(["If-Modified-Since": "@-1000"])
        ),
        row(
            "4.3.1",
            "by both",
            ["CC: max-age=60", "ETag: \"v1\"", "Last-Modified: @-1000"],
            after: 61,
            .revalidated(["If-None-Match": "\"v1\"", "If-Modified-Since": "@-1000"])
        ),
        row("4.3.1", "not at all by neither", ["CC: max-age=60"], after: 61, .fetched),
        row(
            "4.3.3",
            "a 200 takes the place",
            ["CC: max-age=60", "ETag: \"v1\""],
            after: 61,
            then: ScriptedAnswer(200, ["CC: max-age=60"], body: "second"),
            .replaced,
            third: (59, .cached)
        ),
        row(
            "4.3.4",
            "a 304 makes it fresh for as long as it says",
            ["CC: max-age=60", "ETag: \"v1\""],
            after: 61,
            then: ScriptedAnswer(304, ["ETag: \"v1\"", "CC: max-age=600"]),
            .revalidated(etag),
            third: (599, .cached)
        ),
        row(
            "4.3.4",
            "and no longer",
            ["CC: max-age=60", "ETag: \"v1\""],
            after: 61,
            then: ScriptedAnswer(304, ["ETag: \"v1\"", "CC: max-age=600"]),
            .revalidated(etag),
            third: (601, .revalidated(etag))
        ),
        row(
            "4.3.4",
            "without a word of it, as long as before",
            ["CC: max-age=60", "ETag: \"v1\""],
            after: 61,
            then: ScriptedAnswer(304, ["ETag: \"v1\""]),
            .revalidated(etag),
            third: (59, .cached)
        ),
        row(
            "4.3.4",
            "a 304 about other bytes is none",
            ["CC: max-age=60", "ETag: \"v1\""],
            after: 61,
            then: ScriptedAnswer(304, ["ETag: \"v2\""]),
            .failed("source.httpStatus")
        ),
        row(
            "4.3.4",
            "a 304 that says no-store takes it away",
            ["CC: max-age=60", "ETag: \"v1\""],
            after: 61,
            then: ScriptedAnswer(304, ["ETag: \"v1\"", "CC: no-store"]),
            .revalidated(etag),
            third: (0, .failed("source.httpStatus"))
        ),
        row(
            "3",
            "a 200 that says no-store does too",
            ["CC: max-age=60", "ETag: \"v1\""],
            after: 61,
            then: ScriptedAnswer(200, ["CC: no-store"], body: "second"),
            .replaced,
            third: (0, .fetched)
        ),
    ]
}
