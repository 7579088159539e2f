import CameoHTTPCache
import Foundation
import Testing

@Suite("RFC 9111, sections 3.2 and 4.3.4: what a 304 does", .timeLimit(.minutes(10)))
struct FresheningTests {
    private let stored = answer(
        "Content-Type: image/png",
        "Content-Length: 5",
        "Content-Encoding: gzip",
        "Cache-Control: max-age=60",
        "Cache-Control: x",
        "Date: \(after(noon: 0))",
        "Age: 50",
        "ETag: \"a\""
    )

    private func notModified(_ lines: String...) -> CacheableResponse {
        CacheableResponse(status: 304, fields: fields(lines), requestTime: noon + 100, responseTime: noon + 101)
    }

    @Test func fieldsAreReplacedWholeAndTimesAreNew() {
        let fresh = shared.freshened(
            stored,
            by: notModified("cache-control: max-age=600", "ETag: W/\"a\"", "X: new", "Date: \(after(noon: 100))")
        )
        #expect(fresh.status == 200)
        #expect(fresh.fields["Cache-Control"] == "max-age=600")
        #expect(fresh.fields["ETag"] == "W/\"a\"")
        #expect(fresh.fields["X"] == "new")
        #expect(fresh.fields["Content-Type"] == "image/png")
        #expect(fresh.requestTime == noon + 100)
        #expect(shared.freshUntil(fresh) == noon + 700)
    }

    @Test func whatDescribesTheBytesStays() {
        let fresh = shared.freshened(
            stored,
            by: notModified(
                "CONTENT-TYPE: text/html",
                "content-length: 0",
                "Content-Encoding: br",
                "Content-Range: bytes 0-1/2"
            )
        )
        #expect(fresh.fields["Content-Type"] == "image/png")
        #expect(fresh.fields["Content-Length"] == "5")
        #expect(fresh.fields["Content-Encoding"] == "gzip")
        #expect(fresh.fields["Content-Range"] == nil)
    }

    @Test func theOldAgeAndDateGoWithTheOldMessage() {
        let fresh = shared.freshened(stored, by: notModified())
        #expect(fresh.fields["Age"] == nil)
        #expect(fresh.fields["Date"] == nil)
        #expect(shared.freshUntil(fresh) == noon + 160)
    }

    @Test(
        "Section 3.1",
        arguments: [
            "Connection", "keep-alive", "Transfer-Encoding", "TE", "Upgrade", "Proxy-Authenticate", "Proxy-Connection",
            "Proxy-Authentication-Info", "Proxy-Authorization", "X-Hop", "X-Other",
        ]
    )
    func whatIsForTheConnectionIsNotKept(name: String) {
        let lines = fields(["\(name): a", "Connection: close, X-HOP ,", "connection: x-other", "ETag: \"a\""])
        #expect(lines.storable.lines.map(\.name) == ["ETag"])
        let fresh = shared.freshened(stored, by: answer("\(name): a", "Connection: X-Hop, X-Other", status: 304))
        #expect(fresh.fields[name] == nil)
    }

    @Test func theResultIsToBeJudgedAgain() {
        let fresh = shared.freshened(stored, by: notModified("Cache-Control: no-store"))
        #expect(shared.storing(fresh, of: plain) == .forbidden)
    }

    /// What should take milliseconds would take minutes if it grew with the square.
    @Test func manyFieldsAreReplacedInOnePass() {
        let lines = (0..<20_000).map { "X-\($0): a" }
        let fresh = shared.freshened(answer(lines), by: answer(lines.map { $0 + "b" }, status: 304))
        #expect(fresh.fields.lines.count == 20_000)
        #expect(fresh.fields.lines.allSatisfy { $0.value == " ab" })
    }

    private static let monday = "Last-Modified: Mon, 28 Jan 2030 12:00:00 GMT"
    private static let mondayToo = "Last-Modified: Monday, 28-Jan-30 12:00:00 GMT"
    private static let tuesday = "Last-Modified: Tue, 29 Jan 2030 12:00:00 GMT"

    private static let pairs: [([String], [String], Bool)] = [
        // stored, 304, whether it is meant
        (["ETag: \"a\""], ["ETag: \"a\""], true), (["ETag: \"a\""], ["ETag: \"b\""], false),
        (["ETag: \"a\""], ["ETag: \"A\""], false), (["ETag: \"é\""], ["ETag: \"e\u{301}\""], false),
        (["ETag: W/\"a\""], ["ETag: \"a\""], false), (["ETag: \"a\""], ["ETag: W/\"a\""], true),
        (["ETag: W/\"a\""], ["ETag: W/\"a\""], true), (["ETag: W/\"a\""], ["ETag: W/\"b\""], false),
        ([], ["ETag: \"a\""], false), ([monday], ["ETag: \"a\"", monday], false),
        ([monday], ["ETag: W/\"a\"", monday], true), ([], ["ETag: W/\"a\""], false),
        (["ETag: \"a\"", monday], ["ETag: \"b\"", monday], false),
        (["ETag: \"a\"", monday], ["ETag: \"a\"", tuesday], true),
        (["ETag: \"a\"", monday], [monday], true), ([monday], [mondayToo], true), ([monday], [tuesday], false),
        ([], [monday], false), (["ETag: \"a\""], [], true), ([monday], [], true), ([], [], true),
    ]

    @Test("Section 4.3.4: selection", arguments: pairs)
    func isNamedByItsValidators(stored: [String], notModified: [String], isNamed: Bool) {
        #expect(answer(stored).isNamed(by: answer(notModified, status: 304)) == isNamed)
    }

    private static let requests: [([String], [String])] = [
        (["ETag: \"a\""], ["If-None-Match: \"a\""]), (["ETag: W/\"a\" "], ["If-None-Match: W/\"a\""]),
        (["etag: \"a\"", monday], ["If-None-Match: \"a\"", "If-Modified-Since: Mon, 28 Jan 2030 12:00:00 GMT"]),
        (["ETag: \"\""], ["If-None-Match: \"\""]),
        (["ETag: *"], []), (["ETag: a"], []), (["ETag: \""], []), (["ETag: \"a\"b\""], []), (["ETag: w/\"a\""], []),
        (["ETag: \"a\"", "ETag: \"b\""], []), (["ETag: \"a b\""], []), (["ETag: \"a\r\nb\""], []),
        (["Last-Modified: yesterday"], []), ([monday, monday], []), ([], []),
    ]

    @Test("Section 4.3.1", arguments: requests)
    func validatorsAreThoseThatAreWellFormed(stored: [String], request: [String]) {
        let validators = answer(stored).validators
        #expect(validators.lines.map { "\($0.name): \($0.value)" } == request)
    }
}
