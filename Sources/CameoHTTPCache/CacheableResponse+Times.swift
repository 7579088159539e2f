package import Foundation

extension CacheableResponse {
    /// When the origin made the answer: when it came, where that is not told (RFC 9110, section 6.6.1).
    var date: Date { time(in: fields.values(of: "Date")) ?? responseTime }

    package var lastModified: Date? { time(in: fields.values(of: "Last-Modified")) }

    /// From `Date` to `Expires`, the earliest of several; zero if that is no time, as in `Expires: 0`; nil without one
    /// (section 5.3).
    var expiresAfter: Duration? {
        let lines = fields.values(of: "Expires")
        guard !lines.isEmpty else { return nil }
        let times = lines.compactMap { time(in: [$0]) }
        guard let first = times.min(), times.count == lines.count else { return .zero }
        return max(first.duration(since: date), .zero)
    }

    /// `corrected_initial_age` (section 4.2.3): how old the answer was when it came.
    var initialAge: Duration {
        let apparentAge = max(responseTime.duration(since: date), .zero)
        let delay = max(responseTime.duration(since: requestTime), .zero)
        return max(apparentAge, age + delay)
    }

    /// The first member of `Age`; zero where that is no number (section 5.1).
    private var age: Duration {
        let first = fields["Age"]?.utf8.prefix { $0 != UInt8(ascii: ",") }
        let text = first.map { String(decoding: $0.trimmed, as: UTF8.self) }
        return .seconds(text.flatMap { Int(deltaSeconds: $0) } ?? 0)
    }

    /// Nil for several lines, which no field of one time may have.
    private func time(in lines: [String]) -> Date? {
        lines.count == 1 ? HTTPDate.parse(lines[0], now: responseTime) : nil
    }
}
