package import Foundation

// DESIGN. Foundation's ISO 8601 style truncates milliseconds instead of rounding them, so that a time can lose one with
// every round trip, and it accepts 30 February, 25 o'clock and "…Zgarbage". Hence this small parser.
extension WireFormat {
    /// Writes `2030-01-31T12:00:00.000Z`, rounded to the millisecond; a year outside 0…9999 is clamped to what RFC 3339
    /// can express.
    package static func text(of date: Date) -> String {
        let range = -62_167_219_200_000.0...253_402_300_799_999.0
        let rounded = (date.timeIntervalSince1970 * 1_000).rounded()
        let milliseconds = Int(min(max(rounded, range.lowerBound), range.upperBound))
        let fraction = (milliseconds % 1_000 + 1_000) % 1_000
        let time = UTCTime(secondsSince1970: (milliseconds - fraction) / 1_000)
        let date = "\(time.year.text(digits: 4))-\(time.month.text(digits: 2))-\(time.day.text(digits: 2))"
        return "\(date)T\(time.timeOfDay).\(fraction.text(digits: 3))Z"
    }

    /// Parses an RFC 3339 time with any offset and an optional fraction of up to nine digits. `T` and `Z` must be upper
    /// case; leap seconds are refused (SQLite does not support them either).
    package static func date(from text: String) -> Date? {
        var reader = TimeReader(text.utf8)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2, in: 1...12), reader.skip("-"),
            let day = reader.number(2, in: 1...31), reader.skip("T"),
            let hour = reader.number(2, in: 0...23), reader.skip(":"),
            let minute = reader.number(2, in: 0...59), reader.skip(":"),
            let second = reader.number(2, in: 0...59), let fraction = reader.fraction(),
            let offset = reader.offset(), reader.isAtEnd,
            let time = UTCTime(year: year, month: month, day: day, second: hour * 3_600 + minute * 60 + second)
        else { return nil }
        return Date(timeIntervalSince1970: Double(time.secondsSince1970 - offset) + fraction)
    }
}

private struct TimeReader {
    private var rest: Substring.UTF8View

    init(_ text: String.UTF8View) { rest = text[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(_ count: Int, in range: ClosedRange<Int> = 0...9_999) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(Self.isDigit),
            let number = Int(String(decoding: digits, as: UTF8.self)), range.contains(number)
        else { return nil }
        rest.removeFirst(count)
        return number
    }

    /// Reads the fraction of a second; 0 if there is none.
    mutating func fraction() -> Double? {
        guard skip(".") else { return 0 }
        let digits = rest.prefix(while: Self.isDigit)
        guard (1...9).contains(digits.count),
            let fraction = Double("0." + String(decoding: digits, as: UTF8.self))
        else { return nil }
        rest.removeFirst(digits.count)
        return fraction
    }

    /// Reads the offset in seconds east of UTC.
    mutating func offset() -> Int? {
        if skip("Z") { return 0 }
        let sign = skip("+") ? 1 : -1
        guard sign == 1 || skip("-"), let hours = number(2, in: 0...23), skip(":"), let minutes = number(2, in: 0...59)
        else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
