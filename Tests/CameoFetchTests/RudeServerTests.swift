import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

/// Servers that are broken or hostile below the level of statuses: every one is a named failure, soon, and takes no more
/// memory than a picture may.
@Suite(.timeLimit(.minutes(10)))
struct RudeServerTests {
    private static let limits = FetchConfiguration.forTests.with(\.maximumBytes, 100_000)

    private static let refused: [(String, JobFailure.Code, String)] = [
        ("length-too-large", .sourceUnreachable, "broke off before its end"),
        ("lengths-that-differ", .sourceInvalid, "several lengths"),
        ("lengths-in-one-line", .sourceInvalid, "several lengths"),
        ("length-negative", .sourceUnreachable, "cannot be reached"),
        ("length-hexadecimal", .sourceInvalid, "is empty"),
        ("length-beyond-numbers", .sourceTooLarge, "more than the allowed 100000"),
        ("chunk-no-number", .sourceUnreachable, "cannot be reached"),
        ("chunk-negative", .sourceUnreachable, "cannot be reached"),
        ("chunk-beyond-numbers", .sourceUnreachable, "cannot be reached"),
        ("chunk-too-short", .sourceUnreachable, "cannot be reached"),
        ("chunk-cut-off", .sourceUnreachable, "broke off before its end"),
        ("chunks-without-end", .sourceUnreachable, "broke off before its end"),
        ("chunk-size-without-end", .sourceUnreachable, "cannot be reached"),
        ("chunk-extension-without-end", .sourceTimeout, "1024 bytes a second"),
        ("chunks-of-one-byte-without-end", .sourceTooLarge, "more than the allowed 100000"),
        ("trailers-without-end", .sourceTimeout, "1024 bytes a second"),
        ("informational-without-end", .sourceUnreachable, "cannot be reached"),
        ("continue-without-end", .sourceUnreachable, "cannot be reached"),
        ("switching-protocols", .sourceUnreachable, "no answer"),
        ("ten-megabytes-of-headers", .sourceUnreachable, "cannot be reached"),
        ("header-of-ten-megabytes", .sourceUnreachable, "a line that is too long"),
        ("header-with-nul", .sourceUnreachable, "cannot be reached"),
        ("header-without-colon", .sourceUnreachable, "cannot be reached"),
        ("status-of-letters", .sourceInvalid, "not served over HTTP/1.0 or later"),
        ("status-line-without-end", .sourceUnreachable, "a line that is too long"),
        ("version-9", .sourceInvalid, "not served over HTTP/1.0 or later"),
        ("http-0.9", .sourceInvalid, "not served over HTTP/1.0 or later"),
        ("ftp-greeting", .sourceInvalid, "not served over HTTP/1.0 or later"),
        ("binary-noise", .sourceInvalid, "not served over HTTP/1.0 or later"),
        ("slow-head", .sourceTimeout, "1024 bytes a second"),
        ("slow-body", .sourceTimeout, "1024 bytes a second"),
        ("nothing", .sourceUnreachable, "cannot be reached"),
    ]

    /// Odd, but by RFC 9112 what arrives is the answer's body.
    private static let taken = [
        "length-too-small": "hello", "length-twice-the-same": "hello, picture", "length-and-chunks": "hello, picture",
        "no-length": "hello, picture", "bare-line-feeds": "hello, picture", "some-informational": "hello, picture",
        "answer-before-the-request": "hello, picture",
    ]

    /// Refused or taken, depending on libcurl: newer ones read three digits of a status and leave the rest.
    private static let either = "status-of-five-digits"

    /// At one time: what takes its time takes it together.
    @Test func everyBrokenAnswerIsANamedFailure() async throws {
        let servers = try await RudeServers.start()
        let fetcher = try Fetcher(Self.limits)
        let impatient = try Fetcher(Self.limits.with(\.lowSpeedTime, .seconds(4)))
        #expect(servers.behaviours == Set(Self.refused.map(\.0) + Self.taken.keys + [Self.either]))
        try await withThrowingTaskGroup(of: (String, JobFailure).self) { group in
            for (behaviour, code, _) in Self.refused {
                let url = try servers.url(behaviour)
                let fetcher = code == .sourceTimeout ? impatient : fetcher
                group.addTask { (behaviour, try await failure(of: url, with: fetcher)) }
            }
            for try await (behaviour, failure) in group {
                guard let (_, code, text) = Self.refused.first(where: { $0.0 == behaviour }) else { continue }
                // Newer versions of libcurl have limits of their own for headers and trailers, and stop earlier.
                if failure.code != .sourceUnreachable || !failure.message.contains("grew larger than allowed") {
                    #expect(failure.code == code, "\(behaviour): \(failure.message)")
                    #expect(failure.message.contains(text), "\(behaviour): \(failure.message)")
                }
                #expect(failure.message.contains(try servers.url(behaviour)))
                #expect(failure.message.utf8.count < 500)
            }
        }
    }

    @Test func aStatusOfFiveDigitsIsRefusedOrReadAsThree() async throws {
        let servers = try await RudeServers.start()
        do {
            let source = try await Fetcher(Self.limits).fetch(servers.url(Self.either))
            #expect(String(decoding: try source.contents(), as: UTF8.self) == "hello, picture")
        } catch let failure as JobFailure {
            #expect(failure.code == .sourceInvalid)
            #expect(failure.message.contains("not served over HTTP/1.0 or later"), "\(failure.message)")
        }
    }

    @Test func whatIsOnlyOddIsTaken() async throws {
        let servers = try await RudeServers.start()
        let fetcher = try Fetcher(Self.limits)
        for (behaviour, body) in Self.taken {
            let source = try await fetcher.fetch(servers.url(behaviour))
            #expect(String(decoding: try source.contents(), as: UTF8.self) == body, "\(behaviour)")
        }
    }
}
