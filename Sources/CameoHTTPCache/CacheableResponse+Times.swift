package import Foundation

extension CacheableResponse {
    /// When the origin generated the response; without a `Date`, when it arrived (RFC 9110, section 6.6.1).
    var date: Date { time(in: fields.values(of: "Date")) ?? responseTime }

    package var lastModified: Date? { time(in: fields.values(of: "Last-Modified")) }

    /// The time from `Date` to `Expires` (section 5.3). The earliest of several lines counts; a value that is no time, such
    /// as `Expires: 0`, means zero. Nil without the field.
    var expiresAfter: Duration? {
        let lines = fields.values(of: "Expires")
        guard !lines.isEmpty else { return nil }
        let times = lines.compactMap { time(in: [$0]) }
        guard let first = times.min(), times.count == lines.count else { return .zero }
        return max(first.duration(since: date), .zero)
    }

    /// How long to wait before the next request (RFC 9110, section 10.2.3), at most three years. Nil without a readable
    /// `Retry-After`. A date is taken relative to the response's own `Date`, so that a server with a wrong clock still
    /// tells how long.
    package var retryAfter: Duration? {
        guard let text = fields.values(of: "Retry-After").first else { return nil }
        if let seconds = Int(deltaSeconds: text) { return .seconds(min(seconds, 100_000_000)) }
        return time(in: [text]).map { min(max($0.duration(since: date), .zero), .seconds(100_000_000)) }
    }

    /// `corrected_initial_age` (section 4.2.3): how old the response was when it arrived.
    var initialAge: Duration {
        let apparentAge = max(responseTime.duration(since: date), .zero)
        let delay = max(responseTime.duration(since: requestTime), .zero)
        return max(apparentAge, age + delay)
    }

    /// The first member of `Age`, or zero if it is not a number (section 5.1).
    private var age: Duration {
        let first = fields["Age"]?.utf8.prefix { $0 != UInt8(ascii: ",") }
        let text = first.map { String(decoding: $0.trimmed, as: UTF8.self) }
        return .seconds(text.flatMap { Int(deltaSeconds: $0) } ?? 0)
    }

    /// Returns nil for several lines: a field that holds one time must have one line.
    private func time(in lines: [String]) -> Date? {
        lines.count == 1 ? HTTPDate.parse(lines[0], now: responseTime) : nil
    }
}
