/// Something that is done at most once in a period.
struct Interval {
    private let period: Duration
    private var last: ContinuousClock.Instant?

    init(_ period: Duration) {
        self.period = period
    }

    /// Whether it is to be done now; then the next period begins.
    mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        if let last, last.duration(to: now) < period { return false }
        last = now
        return true
    }
}
