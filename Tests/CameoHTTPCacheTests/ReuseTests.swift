import CameoHTTPCache
import Foundation
import Testing

@Suite("RFC 9111, section 5.2.1: what requests ask of a stored answer", .timeLimit(.minutes(10)))
struct ReuseTests {
    private func reuse(
        _ said: String,
        asked: [String] = [],
        after seconds: Double,
        by policy: CachePolicy = shared
    ) -> CachePolicy.Reuse {
        policy.reuse(of: answer("Cache-Control: \(said)"), for: fields(asked), at: noon + seconds)
    }

    private static let table: [(String, String, Double, CachePolicy.Reuse)] = [
        ("max-age=60", "", 59.0, CachePolicy.Reuse.fresh), ("max-age=60", "", 60, .expired),
        ("max-age=60", "max-age=10", 10, .fresh), ("max-age=60", "max-age=10", 11, .notFreshEnough),
        ("max-age=60", "max-age=0", 0, .fresh), ("max-age=60", "max-age=0", 1, .notFreshEnough),
        ("max-age=60", "max-age=x", 1, .notFreshEnough),
        ("max-age=60", "max-age=10, max-age=20", 15, .notFreshEnough),
        ("max-age=60", "max-age=99999999999999999999", 59, .fresh),
        ("max-age=60", "min-fresh=20", 40, .fresh), ("max-age=60", "min-fresh=20", 41, .notFreshEnough),
        ("max-age=60", "min-fresh", 1, .notFreshEnough),
        ("max-age=60", "min-fresh=5, min-fresh=20", 41, .notFreshEnough),
        ("max-age=60", "max-stale=30", 90, .fresh), ("max-age=60", "max-stale=30", 91, .expired),
        ("max-age=60", "max-stale", 1e9, .fresh), ("max-age=60", "max-stale=x", 61, .expired),
        ("max-age=60", "max-stale, max-stale=30", 91, .expired),
        ("max-age=60", "max-age=10, max-stale=30", 70, .notFreshEnough),
        ("max-age=60", "max-age=80, max-stale=30", 70, .fresh),
        ("max-age=60", "max-stale=30, min-fresh=1", 70, .notFreshEnough),
        ("max-age=60", "no-cache", 1, .notFreshEnough), ("no-cache, max-age=60", "", 1, .noCache),
        ("no-cache=\"Set-Cookie\", max-age=60", "max-stale", 1, .noCache),
        ("max-age=60", "only-if-cached", 1, .fresh), ("max-age=60", "no-store", 1, .fresh),
    ]

    @Test(arguments: table)
    func isAsTheRequestAndTheAnswerAllow(said: String, asked: String, age: Double, expected: CachePolicy.Reuse) {
        #expect(reuse(said, asked: ["Cache-Control: \(asked)"], after: age) == expected)
    }

    @Test(
        arguments: [
            ("must-revalidate", false, false), ("proxy-revalidate", false, true), ("s-maxage=60", false, false),
            ("must-understand", true, true),
        ]
    )
    func maxStaleDoesNotOverruleTheAnswer(said: String, inShared: Bool, forOneTenant: Bool) {
        for (policy, isServed) in [(shared, inShared), (oneTenant, forOneTenant)]
        where !(said == "s-maxage=60" && policy == oneTenant) {
            let reuse = reuse("max-age=60, \(said)", asked: ["Cache-Control: max-stale"], after: 70, by: policy)
            #expect(reuse == (isServed ? .fresh : .expired))
        }
        #expect(
            reuse("s-maxage=1, max-age=60", asked: ["Cache-Control: max-stale"], after: 70, by: oneTenant) == .fresh
        )
    }

    @Test(
        "RFC 8246",
        arguments: [
            ("max-age=0", CachePolicy.Reuse.fresh), ("no-cache", .notFreshEnough),
            ("min-fresh=55", .notFreshEnough),
        ]
    )
    func immutableAnswersAReloadWhileFreshButNoForcedOne(asked: String, expected: CachePolicy.Reuse) {
        #expect(reuse("max-age=60, immutable", asked: ["Cache-Control: \(asked)"], after: 10) == expected)
    }

    @Test("RFC 8246: only while fresh, and as it is defined")
    func immutableEnds() {
        let reload = ["Cache-Control: max-age=0"]
        #expect(reuse("max-age=60, immutable", asked: reload, after: 60) == .notFreshEnough)
        #expect(reuse("max-age=60, immutable", after: 60) == .expired)
        #expect(reuse("max-age=60, immutable=1", asked: reload, after: 10) == .notFreshEnough)
        #expect(reuse("max-age=60, immutable, no-cache", asked: reload, after: 10) == .noCache)
    }

    @Test("Section 5.4")
    func pragmaCountsOnlyWithoutCacheControl() {
        #expect(reuse("max-age=60", asked: ["Pragma: No-Cache"], after: 1) == .notFreshEnough)
        #expect(reuse("max-age=60", asked: ["Pragma: x, no-cache"], after: 1) == .notFreshEnough)
        #expect(reuse("max-age=60", asked: ["Pragma: no-cache", "Cache-Control: max-age=9"], after: 1) == .fresh)
        #expect(reuse("max-age=60", asked: ["Pragma: max-age=0"], after: 1) == .fresh)
        let legacy = answer("Pragma: no-cache", "Expires: \(after(noon: 60))")
        #expect(shared.reuse(of: legacy, for: plain, at: noon + 1) == .noCache)
    }

    @Test("Section 5.2.1.7", arguments: [("only-if-cached", true), ("max-age=0, Only-If-Cached", true), ("x", false)])
    func onlyIfCachedIsSeen(value: String, isThere: Bool) {
        #expect(fields(["Cache-Control: \(value)"]).isOnlyIfCached == isThere)
        #expect(!fields(["Pragma: only-if-cached"]).isOnlyIfCached)
    }

    @Test(
        arguments: [
            (-60.0, CachePolicy.Reuse.fresh), (-61, .notFreshEnough), (-1e9, .notFreshEnough),
        ]
    )
    func aClockThatWasPutBackMakesNothingLast(seconds: Double, expected: CachePolicy.Reuse) {
        #expect(reuse("max-age=60", after: seconds) == expected)
    }
}
