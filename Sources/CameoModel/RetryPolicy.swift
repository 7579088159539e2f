/// When a failed attempt is followed by another: exponential back-off with jitter.
package struct RetryPolicy: Hashable, Sendable {
    /// Before the second attempt; each further wait is twice the one before.
    package var base: Duration
    package var cap: Duration

    /// The longest wait that a source's server can ask for: a mistake of its operator must not park a job for a year.
    package static let longestRetryAfter = Duration.seconds(3_600)

    package static let standard = RetryPolicy(base: .seconds(2), cap: .seconds(600))

    package init(base: Duration, cap: Duration) {
        self.base = base
        self.cap = cap
    }

    /// The wait before the next attempt, or nil to give up. `attempt` is the one that failed, 1-based; `jitter` a random
    /// number in 0…1: the wait is between half and all of its step.
    ///
    /// A server's `Retry-After`, up to ``longestRetryAfter``, is waited out in full, also beyond the cap. The jitter then
    /// comes on top, so that jobs that were sent away together do not come back together.
    ///
    /// A picture that kills its renderer twice in a row (`previous` is how the attempt before failed), each time a fresh
    /// process, will do so for ever: it gets no third.
    package func delay(
        afterAttempt attempt: Int,
        of maxAttempts: Int,
        failure: JobFailure,
        previous: JobFailure?,
        jitter: Double
    ) -> Duration? {
        guard failure.isRetryable, attempt < maxAttempts else { return nil }
        if failure.code.isRendererDeath, let previous, previous.code.isRendererDeath { return nil }
        let step = min(base * Double(1 << min(attempt - 1, 30)), cap)
        let spread = step * (0.5 * jitter)
        return max(step * 0.5, min(failure.retryAfter ?? .zero, Self.longestRetryAfter)) + spread
    }
}
