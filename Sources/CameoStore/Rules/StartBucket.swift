// DESIGN. A rate of 10 per second is a bucket of ten starts that refills by one every 100 ms (the generic cell rate
// algorithm). Its state is one number, `spent`: the time up to which starts are used. The interval from then to now, at
// most one period, is available.
package struct StartBucket: Sendable {
    private let rate: StartRate
    /// Milliseconds since 1970.
    package private(set) var spent: Double

    /// Limits the bucket to one period. A clock that was set back does not empty it.
    package init(_ rate: StartRate, spent: Double, now: Int64) {
        self.rate = rate
        self.spent = spent > Double(now + rate.period) ? Double(now) : max(spent, Double(now - rate.period))
    }

    /// Milliseconds per start.
    private var interval: Double { Double(rate.period) / Double(rate.count) }

    /// The number of starts available now.
    package func free(now: Int64) -> Int { max(0, Int((Double(now) - spent) / interval + 1e-9)) }

    package mutating func spend(_ count: Int) { spent += Double(count) * interval }

    /// The time of the next available start; nil: now.
    package func opensAt(now: Int64) -> Int64? {
        free(now: now) > 0 ? nil : max(now + 1, Int64((spent + interval).rounded(.up)))
    }
}
