package import Foundation

// DESIGN. Foundation's ISO 8601 style cuts milliseconds off instead of rounding them, so that a time loses one with
// every reading and writing, and it reads 30 February, 25 o'clock and "…Zgarbage" as times. Hence these few lines.
extension WireFormat {
    /// `2030-01-31T12:00:00.000Z`, rounded to the millisecond; years outside 0…9999 become the nearest that RFC 3339
    /// can write.
    package static func text(of date: Date) -> String {
        let range = -62_167_219_200_000.0...253_402_300_799_999.0
        let rounded = (date.timeIntervalSince1970 * 1_000).rounded()
        let milliseconds = Int(min(max(rounded, range.lowerBound), range.upperBound))
        let (days, rest) = milliseconds.flooredQuotientAndRemainder(dividingBy: 86_400_000)
        let (year, month, day) = CivilDay.date(ofDay: days)
        let (seconds, fraction) = rest.quotientAndRemainder(dividingBy: 1_000)
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let time = "\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
        return "\(date)T\(time).\(padded(fraction, 3))Z"
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    /// Reads an RFC 3339 time with any offset, with or without a fraction of up to nine digits; `T` and `Z` in upper
    /// case, no leap second (SQLite knows none either).
    package static func date(from text: String) -> Date? {
        var reader = TimeReader(text.utf8)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2, in: 1...12), reader.skip("-"),
            let day = reader.number(2, in: 1...CivilDay.count(ofMonth: month, in: year)), reader.skip("T"),
            let hour = reader.number(2, in: 0...23), reader.skip(":"),
            let minute = reader.number(2, in: 0...59), reader.skip(":"),
            let second = reader.number(2, in: 0...59), let fraction = reader.fraction(),
            let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        let seconds = CivilDay.day(ofYear: year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
        return Date(timeIntervalSince1970: Double(seconds) + fraction)
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

    /// Seconds; 0 where there is no point.
    mutating func fraction() -> Double? {
        guard skip(".") else { return 0 }
        let digits = rest.prefix(while: Self.isDigit)
        guard (1...9).contains(digits.count),
            let fraction = Double("0." + String(decoding: digits, as: UTF8.self))
        else { return nil }
        rest.removeFirst(digits.count)
        return fraction
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int? {
        if skip("Z") { return 0 }
        let sign = skip("+") ? 1 : -1
        guard sign == 1 || skip("-"), let hours = number(2, in: 0...23), skip(":"), let minutes = number(2, in: 0...59)
        else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// Days of the Gregorian calendar, counted from 1 January 1970.
/// https://howardhinnant.github.io/date_algorithms.html
private enum CivilDay {
    static func count(ofMonth month: Int, in year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    static func day(ofYear year: Int, _ month: Int, _ day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = year.flooredQuotientAndRemainder(dividingBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = (day + 719_468).flooredQuotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension Int {
    fileprivate func flooredQuotientAndRemainder(dividingBy divisor: Int) -> (Int, Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
