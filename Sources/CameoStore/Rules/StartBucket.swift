// DESIGN. A rate of 10 a second is a bucket of ten starts that fills by one every 100 ms (the generic cell rate algorithm):
// one number, `spent`, says up to when the starts are used up; what lies between it and now is free, a period at most.
package struct StartBucket: Sendable {
    private let rate: StartRate
    /// Milliseconds since 1970.
    package private(set) var spent: Double

    /// A bucket is never fuller than a period; and a clock that was put back does not empty it.
    package init(_ rate: StartRate, spent: Double, now: Int64) {
        self.rate = rate
        self.spent = spent > Double(now + rate.period) ? Double(now) : max(spent, Double(now - rate.period))
    }

    /// Milliseconds for one start.
    private var interval: Double { Double(rate.period) / Double(rate.count) }

    /// Starts that may happen now.
    package func free(now: Int64) -> Int { max(0, Int((Double(now) - spent) / interval + 1e-9)) }

    package mutating func spend(_ count: Int) { spent += Double(count) * interval }

    /// When the next start may happen; nil: now.
    package func opensAt(now: Int64) -> Int64? {
        free(now: now) > 0 ? nil : max(now + 1, Int64((spent + interval).rounded(.up)))
    }
}
