extension ConformanceRow {
    /// Section 3: what is stored.
    static let storing: [ConformanceRow] = [
        row("3", "an answer with a lifetime is stored", ["CC: max-age=60"], .cached),
        row("3", "one that says nothing is asked for each time", [], .fetched),
        row("3", "no other status than 200 is", ["CC: max-age=60"], status: 300, .fetched),
        row("3", "a Content-Range says nothing in a 200", ["CC: max-age=60", "Content-Range: bytes 0-4/9"], .cached),
        row(
            "3.5",
            "an answer to credentials stays with their scope",
            ["CC: max-age=60"],
            request: ["Authorization": "Bearer a"],
            .cached
        ),
        row(
            "3.5",
            "and answers no other credentials",
            ["CC: max-age=60"],
            request: ["Authorization": "Bearer a"],
            secondRequest: ["Authorization": "Bearer b"],
            .fetched
        ),
        row(
            "3.5",
            "nor none",
            ["CC: public, max-age=60"],
            request: ["Authorization": "Bearer a"],
            secondRequest: [:],
            .fetched
        ),
        row("5.2.2.5", "no-store is not stored", ["CC: no-store, max-age=60", "ETag: \"v1\""], .fetched),
        row("5.2.2.5", "whatever its case", ["cache-control: NO-STORE", "Expires: @600"], .fetched),
        row("5.2.2.5", "a word like it is another", ["CC: x-no-store, max-age=60"], .cached),
        row(
            "5.2.2.7",
            "private is stored for one tenant",
            ["CC: private, max-age=60"],
            request: ["Cookie": "a=1"],
            .cached
        ),
        row("5.2.2.7", "private is not stored for all", ["CC: private, max-age=60"], .fetched),
        row("5.2.2.9", "public alone has no lifetime", ["CC: public"], .fetched),
        row("5.2.2.9", "public with a lifetime", ["CC: public, max-age=60"], after: 59, .cached),
        row(
            "5.2.2.3",
            "must-understand with a status that is understood",
            ["CC: must-understand, no-store, max-age=60"],
            .cached
        ),
        row("4.1", "Vary: * never matches", ["CC: max-age=60", "Vary: *"], .fetched),
    ]
}
