import CameoHTTPCache
import Foundation
import Testing

@Suite("RFC 9111, section 4.2.1: how long an answer is fresh", .timeLimit(.minutes(10)))
struct FreshnessTests {
    private static let lifetimes: [([String], Int, Int)] = [
        // lines, for a shared cache, for one tenant
        (["Cache-Control: max-age=60"], 60, 60),
        (["Cache-Control: MAX-AGE=60"], 60, 60),
        (["Cache-Control: max-age=\"60\""], 60, 60),
        (["Cache-Control: max-age = 60 , x"], 60, 60),
        (["Cache-Control: max-age=60, s-maxage=10"], 10, 60),
        (["Cache-Control: s-maxage=10"], 10, 0),
        (["Cache-Control: s-maxage=x, max-age=60"], 0, 60),
        (["Cache-Control: max-age=60", "Expires: \(after(noon: 10))"], 60, 60),
        (["Cache-Control: max-age=0", "Expires: \(after(noon: 10))"], 0, 0),
        (["Cache-Control: s-maxage=5", "Expires: \(after(noon: 10))"], 5, 10),
        (["Cache-Control: max-age=60, max-age=10"], 10, 10),
        (["Cache-Control: max-age=10", "Cache-Control: max-age=60"], 10, 10),
        (["Cache-Control: max-age=60, max-age=x"], 0, 0),
        (["Cache-Control: max-age=60, max-age"], 0, 0),
        (["Cache-Control: max-age=99999999999999999999999999"], 1 << 31, 1 << 31),
        (["Cache-Control: max-age=2147483649"], 1 << 31, 1 << 31),
        (["Cache-Control: max-age=-1"], 0, 0), (["Cache-Control: max-age=1.5"], 0, 0),
        (["Cache-Control: max-age="], 0, 0), (["Cache-Control: max-age"], 0, 0),
        (["Cache-Control: max-age=\"60\"1x"], 0, 0), (["Cache-Control: max-age=\"60"], 0, 0),
        (["Cache-Control: max-age=+60"], 0, 0), (["Cache-Control: max-age=6 0"], 0, 0),
        (["Cache-Control: max-age=\u{661}"], 0, 0), (["Cache-Control: x=\"max-age=60\""], 0, 0),
        (["Expires: \(after(noon: 30))"], 30, 30),
        (["Expires: \(after(noon: 30))", "Date: \(after(noon: 10))"], 20, 20),
        (["Expires: \(after(noon: 30))", "Date: \(after(noon: -10))"], 40, 40),
        (["Expires: \(after(noon: 30))", "Date: nonsense"], 30, 30),
        (["Expires: \(after(noon: -30))"], 0, 0), (["Expires: 0"], 0, 0), (["Expires: -1"], 0, 0),
        (["Expires:"], 0, 0),
        (["Expires: \(after(noon: 30))", "Expires: \(after(noon: 20))"], 20, 20),
        (["Expires: \(after(noon: 30))", "Expires: 0"], 0, 0),
        (["Expires: Fri, 31 Dec 9999 23:59:59 GMT"], 1 << 31, 1 << 31),
        ([], 0, 0),
    ]

    @Test(arguments: lifetimes)
    func isTheFirstThatIsSaidAndTheLeastOfSeveral(lines: [String], inShared: Int, forOneTenant: Int) {
        #expect(shared.freshnessLifetime(of: answer(lines)) == .seconds(inShared))
        #expect(oneTenant.freshnessLifetime(of: answer(lines)) == .seconds(forOneTenant))
    }

    /// What is expected to take milliseconds would take minutes if it grew with the square.
    @Test(arguments: ["max-age=60,", "x=\"y", "x=\"\\\",", "=\"=,", "a=\"\\", ",", "no-cache=\"a, b\", "])
    func manyDirectivesAreReadInOnePass(part: String) {
        let line = String(repeating: part, count: 10_000)
        let response = answer("Cache-Control: \(line),s-maxage=1", "Cache-Control: max-age=7")
        #expect(oneTenant.freshnessLifetime(of: response) == .seconds(7))
    }

    @Test func aNumberOfAMillionDigitsIsJustGreat() {
        let response = answer("Cache-Control: max-age=\(String(repeating: "9", count: 1_000_000))")
        #expect(shared.freshnessLifetime(of: response) == .seconds(1 << 31))
    }
}

@Suite("RFC 9111, section 4.2.2: what is guessed", .timeLimit(.minutes(10)))
struct HeuristicFreshnessTests {
    private func modified(_ secondsAgo: Double) -> String { "Last-Modified: \(after(noon: -secondsAgo))" }

    @Test(arguments: [(1_000.0, 100), (1, 0), (864_000, 86_400), (864_010, 86_400), (1e9, 86_400), (-1_000, 0)])
    func aTenthOfTheAgeAtMostADay(age: Double, lifetime: Int) {
        let lasting = shared.freshnessLifetime(of: answer(modified(age)))
        #expect(lasting.components.seconds == lifetime)
    }

    @Test func theAgeIsCountedToTheDateOfTheAnswer() {
        let response = answer(modified(1_000), "Date: \(after(noon: -500))")
        #expect(shared.freshnessLifetime(of: response) == .seconds(50))
    }

    @Test(arguments: [302, 303, 307, 403, 500, 503])
    func onlyForStatusesThatAllowItOrWithPublic(status: Int) {
        #expect(shared.freshnessLifetime(of: answer(modified(1_000), status: status)) == .zero)
        let open = answer(modified(1_000), "Cache-Control: public", status: status)
        #expect(shared.freshnessLifetime(of: open) == .seconds(100))
    }

    @Test(
        arguments: [
            "Cache-Control: max-age=0", "Cache-Control: s-maxage=0", "Cache-Control: no-cache", "Expires: 0",
            "Cache-Control: max-age=x", "Pragma: no-cache", "Last-Modified: nonsense",
        ]
    )
    func nothingIsGuessedAgainstWhatIsSaid(line: String) {
        #expect(oneTenant.freshnessLifetime(of: answer(line, modified(1_000))) == .zero)
    }
}

@Suite("A lifetime injected where an answer says nothing", .timeLimit(.minutes(10)))
struct DefaultLifetimeTests {
    private let policy = CachePolicy(audience: .shared, defaultLifetime: .seconds(3_600))

    @Test(
        arguments: [
            "X: y", "ETag: \"a\"", "Last-Modified: \(after(noon: -1_000))", "Cache-Control: public",
            "Cache-Control: must-revalidate", "Cache-Control: x", "Cache-Control:",
        ]
    )
    func comesBeforeHeuristics(line: String) {
        #expect(policy.freshnessLifetime(of: answer(line)) == .seconds(3_600))
    }

    @Test(
        arguments: [
            "Cache-Control: max-age=0", "Cache-Control: no-cache", "Cache-Control: no-store", "Expires: 0",
            "Cache-Control: s-maxage=0", "Pragma: no-cache",
        ]
    )
    func isNotPutAgainstWhatAnAnswerSays(line: String) {
        #expect(policy.freshnessLifetime(of: answer(line)) == .zero)
    }

    @Test(arguments: [(200, 3_600), (302, 3_600), (307, 3_600), (404, 0), (410, 0), (500, 0), (503, 0)])
    func isForPicturesAndRedirectsNotForErrors(status: Int, lifetime: Int) {
        #expect(policy.freshnessLifetime(of: answer(status: status)) == .seconds(lifetime))
    }

    @Test(arguments: [(Duration.seconds(-5), Duration.zero), (.seconds(Int64.max), .seconds(1 << 31))])
    func isKeptWithinReason(lifetime: Duration, expected: Duration) {
        let policy = CachePolicy(audience: .shared, defaultLifetime: lifetime)
        #expect(policy.freshnessLifetime(of: answer()) == expected)
    }
}
