import CameoHTTPCache
import Foundation
import Testing

@Suite("A chain of redirects does no more than each of its members", .timeLimit(.minutes(10)))
struct ChainTests {
    private let moved = answer("Cache-Control: max-age=30", status: 301)
    private let found = answer(status: 302)
    private let picture = answer("Cache-Control: max-age=60")

    @Test func isFreshWhileEveryMemberIs() {
        #expect(shared.freshUntil(of: [moved, picture]) == noon + 30)
        #expect(shared.reuse(of: [moved, picture], for: plain, at: noon + 29) == .fresh)
        #expect(shared.reuse(of: [moved, picture], for: plain, at: noon + 30) == .expired)
        #expect(shared.reuse(of: [found, picture], for: plain, at: noon) == .expired)
    }

    @Test func anInjectedLifetimeIsForTheHopsToo() {
        let policy = CachePolicy(audience: .shared, defaultLifetime: .seconds(10))
        #expect(policy.freshUntil(of: [found, picture]) == noon + 10)
    }

    @Test(
        arguments: [
            ("Cache-Control: no-store", CachePolicy.Storing.forbidden),
            ("Cache-Control: private", .forbidden), ("Vary: *", .forbidden),
            ("X: y", .allowed),
        ]
    )
    func isStoredUnlessAHopForbidsIt(line: String, expected: CachePolicy.Storing) {
        #expect(shared.storing([moved, answer(line, status: 302), picture], of: plain) == expected)
    }

    @Test func itsAnswerMustGiveAReasonToBeKept() {
        #expect(shared.storing([moved, answer(status: 403)], of: plain) == .nothingAllowsIt)
    }

    @Test func standsInOnlyIfEveryMemberMay() {
        let strict = answer("Cache-Control: max-age=30, must-revalidate", status: 302)
        for (hop, isServed) in [(found, true), (strict, false)] {
            #expect(
                shared.mayServeStale([hop, picture], for: plain, after: .disconnected, at: noon + 99) == isServed
            )
        }
    }

    @Test func withoutMembersNothingIsAllowed() {
        #expect(shared.storing([], of: plain) == .nothingAllowsIt)
        #expect(shared.freshUntil(of: []) == .distantPast)
        #expect(shared.reuse(of: [], for: plain, at: noon) == .expired)
        #expect(!shared.mayServeStale([], for: plain, after: .disconnected, at: noon))
    }
}
