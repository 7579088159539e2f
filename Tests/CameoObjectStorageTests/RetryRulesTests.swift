import Testing

@testable import CameoObjectStorage

struct RetryRulesTests {
    private let rules = RetryRules(firstPause: .milliseconds(100), longestPause: .seconds(2), patience: .seconds(10))

    @Test(arguments: [(1, 100), (2, 200), (3, 400), (5, 1_600), (6, 2_000), (60, 2_000), (1_000_000, 2_000)])
    func thePauseDoublesUpToItsLimit(failures: Int, longest: Int) {
        for random in [0, 0.25, 1] {
            let pause = rules.pause(after: failures, elapsed: .zero, asked: nil, random: random)
            #expect(pause == .milliseconds(longest) * random)
        }
    }

    @Test func theServersWishCountsUpToTheLimit() {
        #expect(rules.pause(after: 1, elapsed: .zero, asked: .seconds(1), random: 1) == .seconds(1))
        #expect(rules.pause(after: 6, elapsed: .zero, asked: .seconds(1), random: 1) == .seconds(2))
        #expect(rules.pause(after: 1, elapsed: .zero, asked: .seconds(3_600), random: 0) == .seconds(2))
    }

    @Test func patienceEndsBeforeAPauseThatWouldExceedIt() {
        #expect(rules.pause(after: 6, elapsed: .seconds(7.9), asked: nil, random: 1) == .seconds(2))
        #expect(rules.pause(after: 6, elapsed: .seconds(8), asked: nil, random: 1) == nil)
        #expect(rules.pause(after: 6, elapsed: .seconds(10), asked: nil, random: 0) == nil)
    }
}
