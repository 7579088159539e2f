/// How often and when a call is repeated that failed for a passing reason.
package struct RetryRules: Hashable, Sendable {
    /// The longest pause after the first failure; it doubles with each further one.
    package var firstPause: Duration
    package var longestPause: Duration
    /// No attempt begins so long after the first.
    package var patience: Duration

    package init(
        firstPause: Duration = .milliseconds(200),
        longestPause: Duration = .seconds(8),
        patience: Duration = .seconds(60)
    ) {
        (self.firstPause, self.longestPause, self.patience) = (firstPause, longestPause, patience)
    }

    /// The pause before the next attempt; nil if there is none.
    ///
    /// Any part of the pause is equally likely, so that the clients of a server that failed do not come back together
    /// (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
    ///
    /// - Parameters:
    ///   - failures: the number of failures so far, at least 1.
    ///   - elapsed: the time since the first attempt began.
    ///   - asked: the pause that the server asks for.
    ///   - random: evenly distributed between 0 and 1.
    /// - Returns: the pause.
    func pause(after failures: Int, elapsed: Duration, asked: Duration?, random: Double) -> Duration? {
        let longest = min(longestPause, firstPause * (1 << min(failures - 1, 16)))
        let pause = max(longest * random, min(asked ?? .zero, longestPause))
        return elapsed + pause < patience ? pause : nil
    }
}
