internal import TestSupport

extension ConformanceRow {
    static let etag = ["If-None-Match": "\"v1\""]
    private static let tagged = ["CC: max-age=60", "ETag: \"v1\""]
    private static let dated = "Last-Modified: @-1000"

    /// What a request asks of an answer that is fresh for a minute.
    private static func asked(
        _ section: String,
        _ rule: String,
        _ directive: String,
        of answer: String = "max-age=60",
        after: Double,
        _ second: Second
    ) -> ConformanceRow {
        row(section, rule, ["CC: \(answer)"], request: ["Cache-Control": directive], after: after, second)
    }

    /// Section 5.2.1: what a request asks of the cache.
    static let requests: [ConformanceRow] = [
        asked("5.2.1.1", "max-age: young enough", "max-age=30", after: 29, .cached),
        asked("5.2.1.1", "max-age: too old", "max-age=30", after: 31, .fetched),
        asked("5.2.1.2", "max-stale: not too stale", "max-stale=30", after: 89, .cached),
        asked("5.2.1.2", "max-stale: too stale", "max-stale=30", after: 91, .fetched),
        asked("5.2.1.2", "not must-revalidate", "max-stale", of: "max-age=60, must-revalidate", after: 61, .fetched),
        asked("5.2.1.3", "min-fresh: enough is left", "min-fresh=30", after: 29, .cached),
        asked("5.2.1.3", "min-fresh: too little is left", "min-fresh=30", after: 31, .fetched),
        row("5.2.1.4", "no-cache asks", tagged, request: ["Cache-Control": "no-cache"], .revalidated(etag)),
        row("5.4", "so does Pragma alone", tagged, request: ["Pragma": "no-cache"], .revalidated(etag)),
        asked("5.2.1.5", "no-store keeps nothing", "no-store", after: 0, .fetched),
    ]

    /// Section 4.3.4: what a 304 with an entity tag and some directives does, and what comes of the wish after it.
    private static func notModified(
        _ rule: String,
        _ fields: String...,
        third: (Double, Second)
    ) -> ConformanceRow {
        let then = ScriptedAnswer(304, ["ETag: \"v1\""] + fields)
        return row("4.3.4", rule, tagged, after: 61, then: then, .revalidated(etag), third: third)
    }

    /// Section 4.3: validation.
    static let validation: [ConformanceRow] = [
        row("4.3.1", "by ETag", tagged, after: 61, .revalidated(etag)),
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
            ["CC: max-age=60", dated],
            after: 61,
            .revalidated(["If-Modified-Since": "@-1000"])
        ),
        row(
            "4.3.1",
            "by both",
            tagged + [dated],
            after: 61,
            .revalidated(["If-None-Match": "\"v1\"", "If-Modified-Since": "@-1000"])
        ),
        row("4.3.1", "not at all by neither", ["CC: max-age=60"], after: 61, .fetched),
        row(
            "4.3.3",
            "a 200 takes the place",
            tagged,
            after: 61,
            then: ScriptedAnswer(200, ["CC: max-age=60"], body: "second"),
            .replaced,
            third: (59, .cached)
        ),
        notModified("a 304 makes it fresh for as long as it says", "CC: max-age=600", third: (599, .cached)),
        notModified("and no longer", "CC: max-age=600", third: (601, .revalidated(etag))),
        notModified("without a word of it, as long as before", third: (59, .cached)),
        notModified("no-store takes it away", "CC: no-store", third: (0, .failed("source.httpStatus"))),
        row(
            "4.3.4",
            "a 304 about other bytes is none",
            tagged,
            after: 61,
            then: ScriptedAnswer(304, ["ETag: \"v2\""]),
            .failed("source.httpStatus")
        ),
        row(
            "3",
            "a 200 that says no-store does too",
            tagged,
            after: 61,
            then: ScriptedAnswer(200, ["CC: no-store"], body: "second"),
            .replaced,
            third: (0, .fetched)
        ),
    ]
}
