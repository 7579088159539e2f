import CameoHTTPCache
import Foundation
import Testing

@Suite("RFC 9111, section 4.2.3: how old an answer is", .timeLimit(.minutes(10)))
struct AgeTests {
    private static let ages: [([String], Double, Double, Int)] = [
        // lines, seconds that the request took, seconds from the answer to now, age
        ([], 0, 0, 0), ([], 0, 10, 10), ([], 3, 10, 13),
        (["Age: 5"], 0, 10, 15), (["Age: 5"], 3, 10, 18),
        (["Date: \(after(noon: -20))"], 0, 10, 30),
        (["Date: \(after(noon: -20))"], 3, 10, 30),
        (["Date: \(after(noon: -20))", "Age: 5"], 3, 10, 30),
        (["Date: \(after(noon: -20))", "Age: 30"], 3, 10, 43),
        (["Date: \(after(noon: 500))", "Age: 5"], 0, 10, 15),
        (["Date: nonsense"], 0, 10, 10),
        (["Date: \(after(noon: -20))", "Date: \(after(noon: -20))"], 0, 10, 10),
        (["Age: 5, 100"], 0, 0, 5), (["Age: 5", "Age: 100"], 0, 0, 5), (["Age: , 5"], 0, 0, 0),
        (["Age: -5"], 0, 0, 0), (["Age: x"], 0, 0, 0), (["Age: 1.5"], 0, 0, 0), (["Age:"], 0, 0, 0),
        (["Age: 99999999999999999999"], 0, 0, 1 << 31),
        ([], 0, -500, 0), ([], -7, 10, 10), (["Age: 5"], -7, -500, 5),
    ]

    @Test(arguments: ages)
    func isTheGreaterOfWhatItSaysAndWhatTheClockSays(lines: [String], delay: Double, sitting: Double, age: Int) {
        let response = CacheableResponse(
            status: 200,
            fields: fields(lines),
            requestTime: noon - delay,
            responseTime: noon
        )
        #expect(shared.currentAge(of: response, at: noon + sitting) == .seconds(age))
    }

    @Test func freshnessEndsWhenTheAgeReachesTheLifetime() {
        let response = answer("Cache-Control: max-age=60", "Age: 45")
        #expect(shared.freshUntil(response) == noon + 15)
        #expect(shared.freshUntil(answer("Cache-Control: max-age=60", "Age: 100")) == noon - 40)
    }

    /// The clock may have been put back since it came.
    @Test func whatNeverWasFreshIsNotSoBeforeItCame() {
        #expect(shared.reuse(of: answer("Cache-Control: max-age=0"), for: plain, at: noon - 1) == .expired)
        #expect(shared.reuse(of: answer("Cache-Control: max-age=1"), for: plain, at: noon - 1) == .fresh)
    }

    @Test func whatMustBeValidatedIsFreshAtNoTime() {
        #expect(shared.freshUntil(answer("Cache-Control: max-age=60, no-cache")) == noon)
    }

    @Test(arguments: [-Double.infinity, .infinity, .nan, 1e300, -1e300])
    func absurdClocksAreSurvived(seconds: Double) {
        let absurd = Date(timeIntervalSince1970: seconds)
        let response = CacheableResponse(
            status: 200,
            fields: fields(["Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT", "Expires: 0", "Age: 9"]),
            requestTime: noon,
            responseTime: absurd
        )
        for policy in [shared, CachePolicy(audience: .oneTenant, defaultLifetime: .seconds(9))] {
            for now in [noon, absurd] {
                #expect(policy.currentAge(of: response, at: now) >= .seconds(9))
                #expect(policy.reuse(of: response, for: plain, at: now) != .fresh)
            }
        }
    }
}
