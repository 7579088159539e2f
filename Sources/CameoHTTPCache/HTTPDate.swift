package import Foundation

/// Times as HTTP writes them (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let longDays = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Reads the three forms, `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
    /// `Sun Nov  6 08:49:37 1994`, in any case (RFC 9111, section 4.2).
    ///
    /// - Parameters:
    ///   - text: without white space around it. Whether the day of the week is that of the date is not looked at. A leap
    ///     second is the second before it.
    ///   - now: a year of two digits is the last with these digits that is not over 50 years after it.
    /// - Returns: nil for anything else, such as a zone that is not GMT.
    package static func parse(_ text: String, now: Date) -> Date? {
        var scanner = DateScanner(text)
        if scanner.word(of: longDays) != nil {
            guard scanner.skip(", "), let day = scanner.number(digits: 2), scanner.skip("-"),
                let month = scanner.word(of: months), scanner.skip("-"),
                let year = scanner.number(digits: 2), scanner.skip(" "),
                let time = scanner.timeOfDay(), scanner.skip(" GMT"), scanner.isAtEnd
            else { return nil }
            let centuries = CivilDate(daysSince1970: wholeSeconds(now).days).year / 100
            // The 50 years are of 365.2425 days.
            let latest = now.addingTimeInterval(50 * 31_556_952)
            return [centuries + 1, centuries, centuries - 1].lazy
                .compactMap { self.date($0 * 100 + year, month, day, time) }.first { $0 <= latest }
        }
        guard scanner.word(of: days) != nil else { return nil }
        if scanner.skip(", ") {
            guard let day = scanner.number(digits: 2), scanner.skip(" "),
                let month = scanner.word(of: months), scanner.skip(" "),
                let year = scanner.number(digits: 4), scanner.skip(" "),
                let time = scanner.timeOfDay(), scanner.skip(" GMT"), scanner.isAtEnd
            else { return nil }
            return date(year, month, day, time)
        }
        guard scanner.skip(" "), let month = scanner.word(of: months), scanner.skip(" "),
            let day = scanner.skip(" ") ? scanner.number(digits: 1) : scanner.number(digits: 2), scanner.skip(" "),
            let time = scanner.timeOfDay(), scanner.skip(" "),
            let year = scanner.number(digits: 4), scanner.isAtEnd
        else { return nil }
        return date(year, month, day, time)
    }

    /// The form that senders use, `Sun, 06 Nov 1994 08:49:37 GMT`, rounded down to the second and kept in the years 0 to
    /// 9999, for which it has room.
    package static func text(of date: Date) -> String {
        let (days, second) = wholeSeconds(date)
        let civil = CivilDate(daysSince1970: days)
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(count - text.utf8.count, 0)) + text
        }
        let time = [second / 3_600, second / 60 % 60, second % 60].map { digits($0, 2) }.joined(separator: ":")
        let weekday = Self.days[(days % 7 + 7) % 7]
        return "\(weekday), \(digits(civil.day, 2)) \(months[civil.month - 1]) \(digits(civil.year, 4)) \(time) GMT"
    }

    /// The month counts from zero.
    private static func date(_ year: Int, _ month: Int, _ day: Int, _ secondOfDay: Int) -> Date? {
        guard let civil = CivilDate(year: year, month: month + 1, day: day) else { return nil }
        return Date(timeIntervalSince1970: Double(civil.daysSince1970 * 86_400 + secondOfDay))
    }

    private static func wholeSeconds(_ date: Date) -> (days: Int, second: Int) {
        let time = date.timeIntervalSince1970
        // The years 0 to 9999.
        let seconds = time.isNaN ? 0 : Int(min(max(time, -62_167_219_200), 253_402_300_799).rounded(.down))
        let second = (seconds % 86_400 + 86_400) % 86_400
        return ((seconds - second) / 86_400, second)
    }
}
