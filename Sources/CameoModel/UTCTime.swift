internal import Glibc

/// A calendar date and time in UTC, computed by the C library (timegm(3), without leap seconds).
package struct UTCTime {
    package let secondsSince1970: Int
    private let parts: tm

    package init(secondsSince1970 seconds: Int) {
        var (time, parts) = (time_t(seconds), tm())
        gmtime_r(&time, &parts)
        (secondsSince1970, self.parts) = (seconds, parts)
    }

    /// Returns nil for a day that the month does not have. `second` counts from midnight.
    package init?(year: Int, month: Int, day: Int, second: Int) {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1_900), Int32(month - 1), Int32(day))
        parts.tm_sec = Int32(second)
        self.init(secondsSince1970: timegm(&parts))
        guard (self.month, self.day) == (month, day) else { return nil }
    }

    package var year: Int { Int(parts.tm_year) + 1_900 }
    /// 1 to 12.
    package var month: Int { Int(parts.tm_mon) + 1 }
    package var day: Int { Int(parts.tm_mday) }
    /// 0 is Sunday.
    package var weekday: Int { Int(parts.tm_wday) }
    /// The time of day as `08:49:37`.
    package var timeOfDay: String {
        [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Int($0).text(digits: 2) }.joined(separator: ":")
    }
}

extension Int {
    /// The number padded with leading zeros to at least this many digits.
    package func text(digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(0, digits - text.utf8.count)) + text
    }
}
