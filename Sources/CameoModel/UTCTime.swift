internal import Glibc

/// Times in UTC as texts of a fixed form, by the C library (timegm(3), without leap seconds), in English whatever the
/// program's locale is.
package enum UTCTime {
    // Sendable: nothing changes or frees it.
    nonisolated(unsafe) private static let english = newlocale(1 << LC_TIME, "C", nil)

    /// Writes a time, in seconds since 1970, in a format of strftime(3); at most 63 bytes.
    package static func text(_ seconds: Int, _ format: String) -> String {
        var (time, parts) = (time_t(seconds), tm())
        gmtime_r(&time, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            return String(
                decoding: UnsafeRawBufferPointer(start: start, count: strftime_l(start, 64, format, &parts, english)),
                as: UTF8.self
            )
        }
    }

    /// The seconds since 1970 of a year, a month (1 to 12), a day, an hour, a minute and a second. What exceeds its range runs
    /// into the next larger unit.
    package static func seconds(_ parts: [Int32]) -> Int {
        var time = tm()
        (time.tm_year, time.tm_mon, time.tm_mday) = (parts[0] - 1_900, parts[1] - 1, parts[2])
        (time.tm_hour, time.tm_min, time.tm_sec) = (parts[3], parts[4], parts[5])
        return timegm(&time)
    }
}

extension Int {
    /// The number padded with leading zeros to at least this many digits.
    package func text(digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(0, digits - text.utf8.count)) + text
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    package var milliseconds: Int { Int(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000) }

    /// Seconds, including the fraction.
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
