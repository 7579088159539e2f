/// When a failed attempt is followed by another: exponential back-off with jitter.
package struct RetryPolicy: Hashable, Sendable {
    /// Before the second attempt; each further wait is twice the one before.
    package var base: Duration
    package var cap: Duration
    /// Attempts that may end with `render.crashed` or `render.timedOut`: a picture that kills its renderer twice, each
    /// time in a fresh process, will do so for ever.
    package var rendererDeaths: Int

    package static let standard = RetryPolicy(base: .seconds(2), cap: .seconds(600), rendererDeaths: 2)

    package init(base: Duration, cap: Duration, rendererDeaths: Int) {
        self.base = base
        self.cap = cap
        self.rendererDeaths = rendererDeaths
    }

    /// The wait before the next attempt, or nil to give up.
    /// - Parameters:
    ///   - attempt: the attempt that failed, 1-based.
    ///   - jitter: a random number in 0…1; the wait is between half and all of its step.
    package func delay(afterAttempt attempt: Int, of maxAttempts: Int, failure: JobFailure, jitter: Double) -> Duration?
    {
        guard failure.isRetryable, attempt < maxAttempts else { return nil }
        switch failure.code {
        case .renderCrashed, .renderTimedOut:
            guard attempt < rendererDeaths else { return nil }
        default: break
        }
        let step = min(base * Double(1 << min(attempt - 1, 30)), cap)
        return step * (0.5 + 0.5 * jitter)
    }
}
