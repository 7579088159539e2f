public import CameoModel

/// How many jobs may start per period, over all workers. Text form: `10/s`, `300/m`, `2/h`, `5/30s`.
public struct StartRate: Hashable, Sendable, CustomStringConvertible {
    /// The number of jobs, 1 to a million.
    public let count: Int
    /// The period in milliseconds, up to a day.
    public let period: Int64

    package init(count: Int, period: Int64) {
        self.count = count
        self.period = period
    }

    /// Creates a rate; 10 per second is `StartRate(10, per: .seconds(1))`.
    ///
    /// - Throws: `InvalidRequest` unless the count is 1 to a million and the period 1 ms to a day.
    public init(_ count: Int, per period: Duration) throws(InvalidRequest) {
        guard (1...1_000_000).contains(count), (.milliseconds(1) ... .seconds(86_400)).contains(period) else {
            let reason = "must be 1 to 1000000 jobs in 1 ms to 1 day, not \(count) in \(period)"
            throw InvalidRequest(path: "rate", reason: reason)
        }
        self.init(count: count, period: Int64(period.milliseconds))
    }

    /// Parses a number of jobs from 1 to a million, `/`, and a period from 1 ms to a day; nil if the text is anything
    /// else.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].first != "+", let count = Int(parts[0]), (1...1_000_000).contains(count) else {
            return nil
        }
        let unit = parts[1].drop { $0.isASCII && $0.isNumber }
        let number = parts[1].dropLast(unit.count)
        let units: [Substring: Int64] = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let milliseconds = units[unit], let times = number.isEmpty ? 1 : Int64(number),
            (1...86_400_000).contains(times), times * milliseconds <= 86_400_000
        else { return nil }
        self.init(count: count, period: times * milliseconds)
    }

    /// The text form.
    public var description: String {
        let units: [(String, Int64)] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
        for (unit, milliseconds) in units where period % milliseconds == 0 {
            return period == milliseconds ? "\(count)/\(unit)" : "\(count)/\(period / milliseconds)\(unit)"
        }
        return "\(count)/\(period)ms"
    }
}

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

/// The order of claims, lowest first.
///
/// A task's rank is its due time minus one minute per step of priority. Every minute of waiting is worth a step, so
/// nothing starves but background queues, and a rank never changes while its task waits. Within a millisecond the lower
/// id goes first, by its last 14 bits.
package enum Rank {
    /// The worth of one step of priority in milliseconds.
    static let step: Int64 = 60_000
    private static let idBits: Int64 = 14
    /// The latest due time, in the year 10889: the bits left of 63.
    private static let latest: Int64 = 1 << 48

    package static func of(_ id: Int64, due: Int64, priority: Int) -> Int64 {
        // What only another program can have left is cut, here and where rows are read.
        let steps = Int64(min(max(priority, -1 << 20), 1 << 20))
        let time = min(max(due, -latest), latest) - steps * step
        return time << idBits | id & (1 << idBits - 1)
    }
}
