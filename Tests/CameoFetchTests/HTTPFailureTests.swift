import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.origin, .timeLimit(.minutes(10)))
struct HTTPFailureTests {
    private let origin = Origin.ofSuite
    private let fetcher: Fetcher

    init() throws { fetcher = try Fetcher(FetchConfiguration.forTests.with(\.maximumBytes, 1_000_000)) }

    @Test(arguments: [
        (404, JobFailure.Code.sourceNotFound, false, "404 Not Found"), (410, .sourceNotFound, false, "410 Gone"),
        (400, .sourceHTTPStatus, false, "400 Bad Request"), (401, .sourceForbidden, false, "401 Unauthorized"),
        (403, .sourceForbidden, false, "403 Forbidden"), (407, .sourceHTTPStatus, false, "407"),
        (408, .sourceHTTPStatus, true, "408 Request Timeout"), (418, .sourceHTTPStatus, false, "418"),
        (425, .sourceHTTPStatus, true, "425 Too Early"), (429, .sourceHTTPStatus, true, "429 Too Many Requests"),
        (500, .sourceHTTPStatus, true, "500 Internal Server Error"), (502, .sourceHTTPStatus, true, "502"),
        (503, .sourceHTTPStatus, true, "503 Service Unavailable"), (599, .sourceHTTPStatus, true, "599"),
        (201, .sourceHTTPStatus, false, "201 Created"), (204, .sourceHTTPStatus, false, "204 No Content"),
        (206, .sourceHTTPStatus, false, "206 Partial Content"), (300, .sourceHTTPStatus, false, "300"),
        (302, .sourceHTTPStatus, false, "302 Found"), (304, .sourceHTTPStatus, false, "304 Not Modified"),
    ])
    func everyStatusBut200IsAFailure(status: Int, code: JobFailure.Code, isRetryable: Bool, text: String) async throws {
        let failure = try await failure(of: origin.url("/status/\(status)"), with: fetcher)
        #expect(failure.code == code)
        #expect(failure.isRetryable == isRetryable)
        #expect(failure.message.hasPrefix("GET \(origin.url("/status/\(status)")) answered \(text)"))
    }

    @Test(arguments: [
        ("/truncated", JobFailure.Code.sourceUnreachable, true), ("/chunk-truncated", .sourceUnreachable, true),
        ("/garbage", .sourceInvalid, false), ("/hangup", .sourceUnreachable, true), ("/http09", .sourceInvalid, false),
        ("/empty", .sourceInvalid, false), ("/bad-gzip", .sourceInvalid, false),
    ])
    func anAnswerThatIsNoneIsAFailure(path: String, code: JobFailure.Code, isRetryable: Bool) async throws {
        try await expect(code, of: origin.url(path), by: fetcher, saying: origin.url(path), isRetryable: isRetryable)
    }

    @Test(arguments: [
        "/bytes?count=1000001", "/gzip-bomb?mib=64", "/announced?bytes=1000000000000", "/endless",
    ])
    func tooManyBytesAreRefusedAsSoonAsTheyShow(path: String) async throws {
        let failure = try await failure(of: origin.url(path), with: fetcher)
        #expect(failure.code == .sourceTooLarge, "\(failure.message)")
        #expect(failure.message.contains("allowed 1000000"))
        #expect(!failure.isRetryable)
    }

    @Test
    func asManyBytesAsAllowedAreTaken() async throws {
        #expect(try await fetcher.fetch(origin.url("/bytes?count=1000000")).bytes == 1_000_000)
    }

    @Test
    func aRefusedConnectionIsUnreachable() async throws {
        let failure = try await failure(of: "http://127.0.0.1:1/x", with: fetcher)
        #expect(failure.code == .sourceUnreachable)
        #expect(failure.isRetryable)
        #expect(failure.message.contains("http://127.0.0.1:1/x"))
    }

    @Test
    func aNameThatDoesNotResolveIsUnreachable() async throws {
        let failure = try await failure(of: "http://pictures.invalid/a.jpg", with: fetcher)
        #expect(failure.code == .sourceUnreachable)
        #expect(failure.isRetryable)
        #expect(failure.message.contains("pictures.invalid"))
    }

    @Test(arguments: ["http://", "http://:80/x", "http://host:port/", "http://[::1/x", "http://a b/x", "http:"])
    func whatIsNoURLIsInvalid(url: String) async throws {
        try await expect(.sourceInvalid, of: url, by: fetcher, saying: "not a valid URL")
    }

    @Test
    func aPasswordInWhatIsNoURLIsNotShown() async throws {
        for url in [
            "http://user:hunter2@host:port/x", "http://user:hunter2?@:99999999/", "http://user:hunter2#x@[::1/",
            "http://user:hunter2@\u{301}host:port/",
        ] {
            #expect(!(try await failure(of: url, with: fetcher)).message.contains("hunter2"), "\(url)")
        }
    }

    @Test(arguments: [["X-A": "b\r\nX-C: d"], ["X-A\r\nX-C": "d"], ["": "x"], ["X:A": "b"]])
    func aHeaderThatWouldInjectAnotherIsRefused(headers: [String: String]) async throws {
        let failure = try await failure(of: origin.url("/headers"), headers: headers, with: fetcher)
        #expect(failure.code == .sourceInvalid)
    }
}
