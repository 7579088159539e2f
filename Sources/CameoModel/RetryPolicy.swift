/// When to retry a failed attempt: exponential back-off with jitter.
package struct RetryPolicy: Hashable, Sendable {
    /// The delay before the second attempt; each later delay doubles.
    package var base: Duration
    package var cap: Duration
    /// The random fraction of a delay: 0 none, 1 all of it.
    package var jitter: Double

    /// The longest delay that a source's server can impose: a misconfigured server must not park a job for a year.
    package static let longestRetryAfter = Duration.seconds(3_600)

    package static let standard = RetryPolicy(base: .seconds(2), cap: .seconds(600))
    /// For what this process tries again until it succeeds: its store, a start of a renderer.
    package static let untilItSucceeds = RetryPolicy(base: .milliseconds(100), cap: .seconds(5), jitter: 0)

    package init(base: Duration, cap: Duration, jitter: Double = 0.5) {
        (self.base, self.cap, self.jitter) = (base, cap, jitter)
    }

    /// The policy with a request's overrides applied. A base above the cap raises the cap, unless the request sets
    /// both.
    package func adjusted(to overrides: RetryOverride?) -> RetryPolicy {
        guard let overrides else { return self }
        let base = overrides.base.map { Duration.seconds($0) } ?? base
        return RetryPolicy(
            base: base,
            cap: overrides.cap.map { Duration.seconds($0) } ?? max(cap, base),
            jitter: overrides.jitter ?? jitter
        )
    }

    /// The delay before the next attempt, or nil to give up. `attempt` is the failed attempt, 1-based; `chance` is a
    /// random number in 0…1 that scales the ``jitter`` part of the delay.
    ///
    /// A server's `Retry-After`, up to ``longestRetryAfter``, is honoured in full, even beyond the cap. The jitter is
    /// added to it, so that jobs that were turned away together do not all come back at once.
    ///
    /// A picture that kills its renderer twice in a row, each time a fresh process, always will, so it gets no third
    /// attempt. `previous` is the failure of the attempt before. What the store refuses is tried until an operator has mended
    /// it, at a pace at which a bucket that refuses everything costs each picture two attempts a minute.
    package func delay(
        afterAttempt attempt: Int,
        of maxAttempts: Int,
        failure: JobFailure,
        previous: JobFailure?,
        chance: Double
    ) -> Duration? {
        guard failure.code != .storeRefused else { return .seconds(30) }
        guard failure.isRetryable, attempt < maxAttempts else { return nil }
        if failure.code.isRendererDeath, let previous, previous.code.isRendererDeath { return nil }
        let step = step(attempt)
        let spread = step * (jitter * chance)
        return max(step * (1 - jitter), min(failure.retryAfter ?? .zero, Self.longestRetryAfter)) + spread
    }

    /// The delay after `count` failures in a row, 1 or more.
    package func delay(afterFailures count: Int, chance: Double) -> Duration {
        step(count) * (1 - jitter + jitter * chance)
    }

    private func step(_ attempt: Int) -> Duration { min(base * Double(1 << min(attempt - 1, 30)), cap) }
}

/// A request's own retry settings; the worker's policy (`RetryPolicy`) applies where they are nil.
public struct RetryOverride: Hashable, Sendable {
    /// Seconds.
    package static let baseRange = 0.1...86_400.0
    /// Seconds.
    package static let capRange = 0.1...604_800.0
    package static let jitterRange = 0.0...1.0
    private static let fields = ["base", "cap", "jitter"]

    /// Seconds before the second attempt; each later delay doubles.
    public var base: Double?
    /// The maximum delay in seconds.
    public var cap: Double?
    /// The random fraction of a delay, 0…1.
    public var jitter: Double?

    /// Where a value is nil, the worker's policy applies.
    public init(base: Double? = nil, cap: Double? = nil, jitter: Double? = nil) {
        (self.base, self.cap, self.jitter) = (base, cap, jitter)
    }

    init(json: JSONValue, at path: String = "retry") throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields)
        base = try reader.number("base", in: Self.baseRange)
        cap = try reader.number("cap", in: Self.capRange)
        jitter = try reader.number("jitter", in: Self.jitterRange)
        if let base, let cap, cap < base {
            throw InvalidRequest(path: "\(path).cap", reason: "must not be below the base, \(base), but is \(cap)")
        }
    }

    var json: JSONValue {
        let members = ["base": base, "cap": cap, "jitter": jitter]
        return .object(members.compactMapValues { $0.map(JSONValue.number) })
    }
}
