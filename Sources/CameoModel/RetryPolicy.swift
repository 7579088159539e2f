/// When a failed attempt is followed by another: exponential back-off with jitter.
package struct RetryPolicy: Hashable, Sendable {
    /// Before the second attempt; each further wait is twice the one before.
    package var base: Duration
    package var cap: Duration
    /// Which part of a wait is left to chance: 0 none, 1 all of it.
    package var jitter: Double

    /// The longest wait that a source's server can ask for: a mistake of its operator must not park a job for a year.
    package static let longestRetryAfter = Duration.seconds(3_600)

    package static let standard = RetryPolicy(base: .seconds(2), cap: .seconds(600))

    package init(base: Duration, cap: Duration, jitter: Double = 0.5) {
        self.base = base
        self.cap = cap
        self.jitter = jitter
    }

    /// This policy where a request wishes nothing else. A base beyond the cap raises it, unless the request names both.
    package func adjusted(to wish: RetryOverride?) -> RetryPolicy {
        guard let wish else { return self }
        let base = wish.base.map { Duration.seconds($0) } ?? base
        return RetryPolicy(
            base: base,
            cap: wish.cap.map { Duration.seconds($0) } ?? max(cap, base),
            jitter: wish.jitter ?? jitter
        )
    }

    /// The wait before the next attempt, or nil to give up. `attempt` is the one that failed, 1-based; `chance` a random
    /// number in 0…1: the ``jitter``'s part of the step is multiplied by it.
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
        chance: Double
    ) -> Duration? {
        guard failure.isRetryable, attempt < maxAttempts else { return nil }
        if failure.code.isRendererDeath, let previous, previous.code.isRendererDeath { return nil }
        let step = min(base * Double(1 << min(attempt - 1, 30)), cap)
        let spread = step * (jitter * chance)
        return max(step * (1 - jitter), min(failure.retryAfter ?? .zero, Self.longestRetryAfter)) + spread
    }
}
