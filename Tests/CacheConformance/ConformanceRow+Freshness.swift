internal import TestSupport

extension ConformanceRow {
    /// Section 4.2.1, 4.2.3: lifetime and age.
    static let freshness: [ConformanceRow] = [
        row("5.2.2.1", "max-age: until it is over", ["CC: max-age=60"], after: 59, .cached),
        row("5.2.2.1", "max-age: no longer", ["CC: max-age=60"], after: 61, .fetched),
        row("5.2.2.1", "max-age=0", ["CC: max-age=0"], .fetched),
        row("5.2.2.1", "a quoted max-age", ["CC: max-age=\"60\""], after: 59, .cached),
        row("4.2.1", "a max-age that is no number is stale", ["CC: max-age=soon"], .fetched),
        row("5.2.2.10", "s-maxage is what a shared cache goes by", ["CC: max-age=1, s-maxage=60"], after: 59, .cached),
        row("5.2.2.10", "also where it is the shorter", ["CC: max-age=600, s-maxage=60"], after: 61, .fetched),
        row(
            "5.2.2.10",
            "a private cache does not",
            ["CC: max-age=1, s-maxage=60"],
            request: ["Cookie": "a=1"],
            after: 30,
            .fetched
        ),
        row("5.3", "Expires: before", ["Expires: @60"], after: 59, .cached),
        row("5.3", "Expires: after", ["Expires: @60"], after: 61, .fetched),
        row("5.3", "Expires: 0 is over", ["Expires: 0"], .fetched),
        row("5.3", "max-age overrules Expires", ["CC: max-age=60", "Expires: @-60"], after: 59, .cached),
        row("5.3", "max-age=0 too", ["CC: max-age=0", "Expires: @600"], .fetched),
        row("5.1", "Age counts: time is left", ["CC: max-age=60", "Age: 30"], after: 29, .cached),
        row("5.1", "Age counts: none is left", ["CC: max-age=60", "Age: 30"], after: 31, .fetched),
        row("4.2.3", "an old Date counts as age", ["CC: max-age=60", "Date: @-30"], after: 31, .fetched),
        row("4.2.3", "and no older than it is", ["CC: max-age=60", "Date: @-30"], after: 29, .cached),
        row("4.2.3", "without a Date the age begins when it comes", ["CC: max-age=60", "Date:"], after: 59, .cached),
        row(
            "5.2.2.4",
            "no-cache is asked about each time",
            ["CC: no-cache, max-age=60", "ETag: \"v1\""],
            .revalidated(etag)
        ),
        row(
            "5.2.2.4",
            "no-cache for one field",
            ["CC: no-cache=\"Set-Cookie\", max-age=60", "ETag: \"v1\""],
            .revalidated(etag)
        ),
        row("RFC 8246", "immutable is fresh as long as it says", ["CC: immutable, max-age=60"], after: 59, .cached),
        row("RFC 8246", "and no longer", ["CC: immutable, max-age=60", "ETag: \"v1\""], after: 61, .revalidated(etag)),
        row("5.4", "Pragma is for requests", ["Pragma: no-cache", "CC: max-age=60"], .cached),
    ]

    /// Section 4.2.2: heuristics.
    static let heuristics: [ConformanceRow] = [
        row("4.2.2", "a tenth of the time since Last-Modified", ["Last-Modified: @-1000"], after: 99, .cached),
        row("4.2.2", "no more", ["Last-Modified: @-1000"], after: 101, .revalidated(["If-Modified-Since": "@-1000"])),
        row(
            "4.2.2",
            "not where a lifetime is said",
            ["Last-Modified: @-1000000", "CC: max-age=60"],
            after: 61,
            .revalidated(["If-Modified-Since": "@-1000000"])
        ),
        row(
            "4.2.2",
            "not for a Last-Modified to come",
            ["Last-Modified: @1000"],
            after: 1,
            then: ScriptedAnswer(200, [], body: "second"),
            .replaced
        ),
    ]
}
