import CameoHTTPCache
import CameoModel
import Foundation
import Testing

@Suite("RFC 9110, section 14: downloads that are resumed", .timeLimit(.minutes(10)))
struct PartialResponseTests {
    private static let digest = BlobDigest(of: Data())
    private static let whole = ["ETag: \"a\"", "Content-Length: 200000"]
    /// A minute before noon, and a second later.
    private static let strong = "Last-Modified: \(HTTPDate.text(of: noon - 60))"
    private static let weak = "Last-Modified: \(HTTPDate.text(of: noon - 59))"
    private static let date = "Date: \(HTTPDate.text(of: noon))"

    private static func partial(_ lines: [String], status: Int = 200, count: Int = 100_000) -> PartialResponse? {
        PartialResponse(
            answer(lines, status: status),
            from: "https://example.com/a",
            count: count,
            digest: digest,
            peers: []
        )
    }

    @Test(arguments: [
        (whole, "\"a\""), (["ETag: \"a\"", "Content-Length: 200000", "Content-Encoding: identity"], "\"a\""),
        (["ETag: \"a\"", "Content-Length: 200000", "Accept-Ranges: bytes"], "\"a\""),
        ([date, strong, "Content-Length: 200000"], String(strong.dropFirst(15))),
    ])
    func aStrongValidatorAndALengthAllowTheRequestOfTheRest(lines: [String], validator: String) throws {
        let partial = try #require(Self.partial(lines))
        #expect(partial.conditions["Range"] == "bytes=100000-")
        #expect(partial.conditions["If-Range"] == validator)
        #expect(partial.conditions["Accept-Encoding"] == "identity")
        #expect(partial.total == 200_000)
    }

    @Test(arguments: [
        ["Content-Length: 200000"], ["ETag: \"a\""], ["ETag: W/\"a\"", "Content-Length: 200000"],
        ["ETag: a", "Content-Length: 200000"], ["ETag: \"a\", \"b\"", "Content-Length: 200000"],
        ["ETag: W/\"a\"", date, strong, "Content-Length: 200000"], [date, weak, "Content-Length: 200000"],
        [strong, "Content-Length: 200000"], whole + ["Content-Encoding: gzip"], whole + ["Accept-Ranges: none"],
        whole + ["Content-Length: 300000"], ["ETag: \"a\"", "Content-Length: +200000"],
        ["ETag: \"a\"", "Content-Length: 100000"], ["ETag: \"a\"", "Content-Length: 99999999999999999999"],
    ])
    func withoutThemItIsNotKept(lines: [String]) {
        #expect(Self.partial(lines) == nil)
    }

    @Test func aLittleOrAnotherStatusIsNotKept() {
        #expect(Self.partial(Self.whole, count: PartialResponse.leastBytes) != nil)
        #expect(Self.partial(Self.whole, count: PartialResponse.leastBytes - 1) == nil)
        #expect(Self.partial(Self.whole, status: 206) == nil)
    }

    @Test(arguments: [
        (["ETag: \"a\"", "Content-Range: bytes 100000-199999/200000"], 206, true),
        (["ETag: \"a\"", "Content-Range: Bytes 100000-199999/200000", "Content-Length: 100000"], 206, true),
        (["ETag: \"a\"", "Content-Range: bytes 100000-199999/200000"], 200, false),
        (["Content-Range: bytes 100000-199999/200000"], 206, false),
        (["ETag: \"b\"", "Content-Range: bytes 100000-199999/200000"], 206, false),
        (["ETag: W/\"a\"", "Content-Range: bytes 100000-199999/200000"], 206, false),
        (["ETag: \"a\"", "Content-Range: bytes 99999-199999/200000"], 206, false),
        (["ETag: \"a\"", "Content-Range: bytes 100000-199998/200000"], 206, false),
        (["ETag: \"a\"", "Content-Range: bytes 100000-200000/200001"], 206, false),
        (["ETag: \"a\"", "Content-Range: bytes 100000-199999/200001"], 206, false),
        (["ETag: \"a\"", "Content-Range: bytes 100000-199999/*"], 206, false), (["ETag: \"a\""], 206, false),
        (["ETag: \"a\"", "Content-Range: bytes */200000"], 206, false),
        (["ETag: \"a\"", "Content-Range: octets 100000-199999/200000"], 206, false),
        (["ETag: \"a\"", "Content-Range: bytes -100000-199999/200000"], 206, false),
        (["ETag: \"a\"", "Content-Range: bytes 100000-199999/200000/1"], 206, false),
        (["ETag: \"a\"", "Content-Type: multipart/byteranges; boundary=x"], 206, false),
        (["ETag: \"a\"", "Content-Range: bytes 100000-199999/200000", "Content-Encoding: br"], 206, false),
        (["ETag: \"a\"", "Content-Range: bytes 100000-199999/200000", "Content-Length: 5"], 206, false),
        (
            [
                "ETag: \"a\"", "Content-Range: bytes 100000-199999/200000",
                "Content-Range: bytes 100000-199999/200000",
            ], 206, false
        ),
    ])
    func onlyTheMissingPartOfTheSameCompletesIt(lines: [String], status: Int, completes: Bool) throws {
        let partial = try #require(Self.partial(Self.whole))
        #expect(partial.isCompleted(by: answer(lines, status: status)) == completes)
    }

    @Test func aDateMayBeLeftOutAndMustNotChange() throws {
        let partial = try #require(Self.partial([Self.date, Self.strong, "Content-Length: 200000"]))
        let range = "Content-Range: bytes 100000-199999/200000"
        #expect(partial.isCompleted(by: answer(range, status: 206)))
        #expect(partial.isCompleted(by: answer(range, Self.strong, status: 206)))
        #expect(!partial.isCompleted(by: answer(range, Self.weak, status: 206)))
    }

    @Test func theWholeHasTheHeadOfBoth() throws {
        let fields = Self.whole + ["Content-Type: image/png", "Cache-Control: max-age=1", "Set-Cookie: a=1"]
        let partial = try #require(Self.partial(fields))
        let rest = answer(
            "ETag: \"a\"",
            "Content-Range: bytes 100000-199999/200000",
            "Content-Type: text/html",
            "Cache-Control: max-age=600",
            status: 206
        )
        let head = partial.head(completedBy: rest)
        #expect(head.status == 200 && head.mediaType == "image/png")
        #expect(head.fields["Cache-Control"] == "max-age=600" && head.fields["Content-Range"] == nil)
        #expect(head.fields["Set-Cookie"] == nil)
    }

    @Test func moreOfItIsTheSameWithAllPeers() throws {
        let (one, other) = (Peer(origin: "https://a:443", .proxy), Peer(origin: "https://b:443", .proxy))
        let partial = try #require(Self.partial(Self.whole))
        let more = partial.grown(to: 150_000, digest: Self.digest, from: [one]).grown(
            to: 160_000,
            digest: Self.digest,
            from: [one, other]
        )
        #expect(more.conditions["Range"] == "bytes=160000-" && more.peers == [one, other])
        #expect(more.total == partial.total && more.head == partial.head)
        let stored = try JSONEncoder().encode(more)
        #expect(try JSONDecoder().decode(PartialResponse.self, from: stored) == more)
        #expect(!stored.contains(UInt8(ascii: "\n")))
    }
}
