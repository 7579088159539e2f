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

/// Reads the parts of a date from left to right, in ASCII.
package struct DateScanner {
    private var rest: ArraySlice<UInt8>

    /// Reads a text, as far as a date with nine digits of a second reaches.
    package init(_ text: String) { rest = Array(text.utf8.prefix(40))[...] }

    package var isAtEnd: Bool { rest.isEmpty }

    /// Skips the text if it comes next.
    package mutating func skip(_ text: String, ignoringCase: Bool = false) -> Bool {
        guard rest.count >= text.utf8.count,
            zip(rest, text.utf8).allSatisfy({ $0 == $1 || ignoringCase && tolower(Int32($0)) == tolower(Int32($1)) })
        else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// Skips the word that comes next, in any case, and returns its index.
    package mutating func word(of words: [String]) -> Int? { words.firstIndex { skip($0, ignoringCase: true) } }

    package mutating func number(digits: Int, in range: ClosedRange<Int> = 0...9_999) -> Int? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy(Self.isDigit) else { return nil }
        rest = rest.dropFirst(digits)
        let number = text.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return range.contains(number) ? number : nil
    }

    /// Reads `08:49:37` as seconds after midnight. With 60 as the `lastSecond`, a leap second is read as the one before it.
    package mutating func timeOfDay(lastSecond: Int = 59) -> Int? {
        guard let hour = number(digits: 2, in: 0...23), skip(":"), let minute = number(digits: 2, in: 0...59),
            skip(":"), let second = number(digits: 2, in: 0...lastSecond)
        else { return nil }
        return hour * 3_600 + minute * 60 + min(second, 59)
    }

    /// Reads the fraction of a second, one to nine digits; 0 if there is none.
    package mutating func fraction() -> Double? {
        guard skip(".") else { return 0 }
        let digits = rest.prefix(while: Self.isDigit)
        guard (1...9).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return Double("0." + String(decoding: digits, as: UTF8.self))
    }

    /// Reads `Z` or `+01:00` as seconds east of UTC.
    package mutating func offset() -> Int? {
        if skip("Z") { return 0 }
        let sign = skip("+") ? 1 : -1
        guard sign == 1 || skip("-"), let hours = number(digits: 2, in: 0...23), skip(":"),
            let minutes = number(digits: 2, in: 0...59)
        else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    package var milliseconds: Int { Int(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000) }

    /// Seconds, including the fraction.
    package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
