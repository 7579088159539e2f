import CameoHTTPCache
import Foundation
import Testing

@Suite("RFC 9111, section 4.2.4, and RFC 5861: answers that stand in", .timeLimit(.minutes(10)))
struct StaleTests {
    private func serves(
        _ said: String,
        asked: String = "",
        _ trouble: CachePolicy.Trouble,
        stale seconds: Double,
        by policy: CachePolicy = shared
    ) -> Bool {
        let request = fields(["Cache-Control: \(asked)"])
        let response = answer("Cache-Control: \(said)", "Expires: \(after(noon: 60))")
        return policy.mayServeStale([response], for: request, after: trouble, at: noon + 60 + seconds)
    }

    @Test(arguments: [
        ("x", ""), ("stale-if-error=0", ""), ("x", "max-stale=0"), ("x", "stale-if-error=0"), ("immutable", ""),
    ])
    func withoutAConnectionAgeDoesNotMatter(said: String, asked: String) {
        #expect(serves(said, asked: asked, .disconnected, stale: 1e9))
    }

    @Test(
        arguments: [
            ("no-cache", false, false), ("must-revalidate", false, false), ("proxy-revalidate", false, true),
            ("s-maxage=60", false, true),
        ]
    )
    func whatForbidsItOverrulesEveryAllowance(said: String, inShared: Bool, forOneTenant: Bool) {
        let said = "\(said), stale-if-error=600"
        for trouble in [CachePolicy.Trouble.disconnected, .serverError] {
            for (audience, isServed) in [(CachePolicy.Audience.shared, inShared), (.oneTenant, forOneTenant)] {
                let policy = CachePolicy(audience: audience, staleIfError: .seconds(600))
                #expect(serves(said, asked: "max-stale", trouble, stale: 10, by: policy) == isServed)
            }
        }
    }

    private static let allowances: [(String, String, Double, Bool)] = [
        ("x", "", 1.0, false), ("stale-if-error=30", "", 30, true), ("stale-if-error=30", "", 31, false),
        ("stale-if-error=x", "", 1, false), ("stale-if-error", "", 1, false),
        ("stale-if-error=30, stale-if-error=5", "", 10, false), ("x", "stale-if-error=30", 30, true),
        ("x", "max-stale=30", 30, true), ("x", "max-stale", 1e9, true), ("x", "max-stale=30", 31, false),
        ("stale-if-error=30", "stale-if-error=5", 20, true),
        ("stale-if-error=99999999999999999999", "", 1e9, true),
    ]

    @Test(arguments: allowances)
    func aServerInTroubleIsCoveredForAsLongAsIsAllowed(said: String, asked: String, stale: Double, isServed: Bool) {
        #expect(serves(said, asked: asked, .serverError, stale: stale) == isServed)
    }

    @Test func theOperatorMayAllowIt() {
        let policy = CachePolicy(audience: .shared, staleIfError: .seconds(30))
        #expect(serves("x", .serverError, stale: 30, by: policy))
        #expect(!serves("x", .serverError, stale: 31, by: policy))
        #expect(serves("stale-if-error=60", .serverError, stale: 31, by: policy))
    }

    @Test(arguments: [CachePolicy.Trouble.disconnected, .serverError])
    func aRequestThatWantsNothingStaleGetsNothingStale(trouble: CachePolicy.Trouble) {
        for asked in ["no-cache", "max-age=600", "min-fresh=1", "no-cache, max-stale"] {
            #expect(!serves("stale-if-error=600", asked: asked, trouble, stale: 10))
        }
        #expect(serves("x", asked: "max-age=600, max-stale=10", trouble, stale: 10))
        #expect(serves("x", asked: "max-age=0, stale-if-error=10", trouble, stale: 10))
        #expect(!serves("x", asked: "max-age=600, max-stale=10", trouble, stale: 11))
    }

    private func refreshes(
        _ said: String,
        asked: String = "x",
        stale seconds: Double,
        in audience: CachePolicy.Audience = .shared
    ) -> Bool {
        let policy = CachePolicy(audience: audience, staleIfError: .seconds(600))
        let response = answer("Cache-Control: \(said)", "Expires: \(after(noon: 60))")
        let request = fields(["Cache-Control: \(asked)"])
        let now = noon + 60 + seconds
        let isServed = policy.mayServeWhileRevalidating([response], for: request, at: now)
        let fresh = answer("Cache-Control: max-age=2147483648")
        #expect(policy.mayServeWhileRevalidating([fresh, response], for: request, at: now) == isServed)
        return isServed
    }

    private static let windows: [(String, String, Double, Bool)] = [
        ("stale-while-revalidate=30", "x", 0, true), ("stale-while-revalidate=30", "x", 29, true),
        ("stale-while-revalidate=30", "x", 30, false), ("stale-while-revalidate=30", "x", -1, true),
        ("x", "x", 1, false), ("stale-if-error=600", "x", 1, false), ("stale-while-revalidate", "x", 0, false),
        ("stale-while-revalidate=soon", "x", 1, false), ("stale-while-revalidate=0", "x", 0, false),
        ("stale-while-revalidate=30, stale-while-revalidate=5", "x", 10, false),
        ("stale-while-revalidate=30, immutable", "x", 1, true),
        ("stale-while-revalidate=99999999999999999999", "x", 1e9, true),
        ("stale-while-revalidate=30", "no-cache", 1, false), ("stale-while-revalidate=30", "max-age=600", 1, false),
        ("stale-while-revalidate=30", "min-fresh=1", 1, false), ("stale-while-revalidate=30", "max-stale=5", 10, false),
        ("stale-while-revalidate=30", "only-if-cached", 1, false), ("x", "stale-while-revalidate=30", 1, false),
    ]

    @Test(arguments: windows)
    func aResponseMayAllowItsUseWhileItIsRefreshed(said: String, asked: String, stale: Double, isServed: Bool) {
        #expect(refreshes(said, asked: asked, stale: stale) == isServed)
    }

    @Test(
        arguments: [
            ("no-cache", false, false), ("must-revalidate", false, false), ("proxy-revalidate", false, true),
            ("s-maxage=60", false, true),
        ]
    )
    func whatForbidsStalenessForbidsItWhileRefreshingToo(said: String, inShared: Bool, forOneTenant: Bool) {
        let said = "\(said), stale-while-revalidate=600"
        #expect(refreshes(said, stale: 10) == inShared)
        #expect(refreshes(said, stale: 10, in: .oneTenant) == forOneTenant)
    }

    @Test func aClockThatWasSetBackAllowsNothing() {
        let response = answer("Cache-Control: max-age=0, stale-while-revalidate=600")
        #expect(shared.mayServeWhileRevalidating([response], for: fields([]), at: noon + 1))
        #expect(!shared.mayServeWhileRevalidating([response], for: fields([]), at: noon - 100))
        #expect(!shared.mayServeWhileRevalidating([], for: fields([]), at: noon))
    }

    @Test func onlyThese500sAreTrouble() {
        #expect((100...599).filter { CachePolicy.Trouble(status: $0) != nil } == [500, 502, 503, 504])
    }
}
