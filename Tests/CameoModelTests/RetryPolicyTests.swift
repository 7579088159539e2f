import CameoModel
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RetryPolicyTests {
    let policy = RetryPolicy.standard

    @Test(
        arguments: [
            (1, 2), (2, 4), (3, 8), (4, 16), (8, 256), (9, 512), (10, 600), (24, 600), (1_000_000, 600),
        ]
    )
    func waitIsBetweenHalfAndAllOfItsStep(attempt: Int, seconds: Int) throws {
        let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
        func delay(_ jitter: Double) -> Duration? {
            policy.delay(afterAttempt: attempt, of: .max, failure: failure, previous: nil, chance: jitter)
        }
        #expect(delay(0) == .seconds(seconds) / 2)
        #expect(delay(1) == .seconds(seconds))
        let middle = try #require(delay(0.5))
        #expect(middle > .seconds(seconds) / 2 && middle < .seconds(seconds))
    }

    @Test(
        arguments: [
            // Below the back-off, above it, beyond its cap, and beyond the longest wait; attempt 1 has a step of 2 s.
            (1, 0, 1.0, 2.0), (1, 120, 120.0, 121.0), (1, 1_200, 1_200.0, 1_201.0), (1, 1_000_000, 3_600.0, 3_601.0),
            (9, 100, 256.0, 512.0), (9, 300, 300.0, 556.0),
        ]
    )
    func retryAfterIsHonouredAndSpread(attempt: Int, wish: Int, least: Double, most: Double) {
        let failure = JobFailure(.sourceHTTPStatus, at: .fetch, "503", retryAfter: .seconds(wish))
        func delay(_ jitter: Double) -> Duration? {
            policy.delay(afterAttempt: attempt, of: .max, failure: failure, previous: nil, chance: jitter)
        }
        #expect(delay(0) == .seconds(least))
        #expect(delay(1) == .seconds(most))
    }

    @Test func retryAfterGrantsNoFurtherAttempt() {
        let last = JobFailure(.sourceHTTPStatus, at: .fetch, "503", retryAfter: .seconds(1))
        #expect(policy.delay(afterAttempt: 5, of: 5, failure: last, previous: nil, chance: 0) == nil)
        let final = JobFailure(.sourceHTTPStatus, at: .fetch, "403", isRetryable: false, retryAfter: .seconds(1))
        #expect(policy.delay(afterAttempt: 1, of: 5, failure: final, previous: nil, chance: 0) == nil)
    }

    @Test func lastAttemptIsNotFollowedByAnother() {
        let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")
        #expect(policy.delay(afterAttempt: 4, of: 5, failure: failure, previous: nil, chance: 0) != nil)
        #expect(policy.delay(afterAttempt: 5, of: 5, failure: failure, previous: nil, chance: 0) == nil)
        #expect(policy.delay(afterAttempt: 1, of: 1, failure: failure, previous: nil, chance: 0) == nil)
        #expect(policy.delay(afterAttempt: 6, of: 5, failure: failure, previous: nil, chance: 0) == nil)
    }

    @Test(arguments: JobFailure.Code.allCases)
    func onlyRetryableFailuresAreRetried(code: JobFailure.Code) {
        let failure = JobFailure(code, at: .fetch, "m")
        let delay = policy.delay(afterAttempt: 1, of: 5, failure: failure, previous: nil, chance: 0)
        #expect((delay != nil) == code.isRetryable)
    }

    @Test func failureMayDecideOtherwiseThanItsCode() {
        let gone = JobFailure(.sourceHTTPStatus, at: .fetch, "410", isRetryable: false)
        #expect(policy.delay(afterAttempt: 1, of: 5, failure: gone, previous: nil, chance: 0) == nil)
    }

    @Test(arguments: [JobFailure.Code.renderCrashed, .renderTimedOut])
    func secondDeathOfARendererInARowIsTheLast(code: JobFailure.Code) {
        let failure = JobFailure(code, at: .render, "died")
        let slow = JobFailure(.sourceTimeout, at: .fetch, "slow")
        func delay(after previous: JobFailure?) -> Duration? {
            policy.delay(afterAttempt: 3, of: 5, failure: failure, previous: previous, chance: 0)
        }
        #expect(delay(after: nil) == .seconds(4))
        #expect(delay(after: slow) == .seconds(4))
        #expect(delay(after: JobFailure(.renderCrashed, at: .render, "died")) == nil)
        #expect(delay(after: JobFailure(.renderTimedOut, at: .render, "hung")) == nil)
        #expect(policy.delay(afterAttempt: 3, of: 5, failure: slow, previous: failure, chance: 0) == .seconds(4))
    }
}
