import CameoFetch
import CameoModel
import Foundation
import TestSupport
import Testing

@Suite(.origin, .timeLimit(.minutes(10)))
struct RetryAfterTests {
    private let origin = Origin.ofSuite
    private let fetcher: Fetcher

    init() throws { fetcher = try Fetcher(.forTests) }

    private func url(_ status: Int, after: String, date: String? = nil) throws -> String {
        let date = try date.map { try "&date=\(escaped($0))" } ?? ""
        return try origin.url("/status/\(status)?after=\(escaped(after))\(date)")
    }

    @Test(arguments: [408, 429, 500, 503])
    func aFailureCarriesTheSecondsThatItsServerAsksFor(status: Int) async throws {
        let failure = try await failure(of: url(status, after: "120"), with: fetcher)
        #expect(failure.retryAfter == .seconds(120))
        #expect(failure.isRetryable)
        #expect(failure.message.hasSuffix("and asks to wait 120 seconds"))
    }

    @Test
    func aTimeBeyondAllReasonIsNotSaidAsANumber() async throws {
        for after in ["99999999999", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            let failure = try await failure(of: url(503, after: after), with: fetcher)
            #expect(failure.message.hasSuffix("and asks to wait for years"))
        }
    }

    @Test(arguments: [200, 301, 403, 404])
    func onlyAFailureThatMayPassHasATime(status: Int) async throws {
        let url = try url(status, after: "120")
        guard status != 200 else {
            #expect(try await fetcher.fetch(url).bytes > 0)
            return
        }
        #expect(try await failure(of: url, with: fetcher).retryAfter == nil)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:51:37 GMT", "Sunday, 06-Nov-94 08:51:37 GMT", "Sun Nov  6 08:51:37 1994",
    ])
    func aDateIsTakenRelativeToTheAnswersOwn(date: String) async throws {
        let url = try url(503, after: date, date: "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(try await failure(of: url, with: fetcher).retryAfter == .seconds(120))
    }

    @Test
    func aDateWithoutAnAnswersOwnIsTakenRelativeToNow() async throws {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let url = try url(503, after: format.string(from: Date(timeIntervalSinceNow: 1_000)), date: "no date")
        let delay = try #require(try await failure(of: url, with: fetcher).retryAfter)
        #expect((.seconds(500)...(.seconds(1_001))).contains(delay))
    }

    @Test(arguments: [
        ("0", Duration?.some(.zero)), ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), (" 7 ", .seconds(7)),
        ("99999999999999999999999", .seconds(100_000_000)), ("-1", nil), ("1.5", nil), ("12 apples", nil),
        ("tomorrow", nil), ("", nil), ("1994", .seconds(1_994)), ("Sunny", nil), ("20300101", .seconds(20_300_101)),
    ])
    func whatIsNeitherSecondsNorADateIsIgnored(text: String, delay: Duration?) async throws {
        let failure = try await failure(of: url(503, after: text), with: fetcher)
        #expect(failure.retryAfter == delay)
        #expect(failure.isRetryable)
    }
}
