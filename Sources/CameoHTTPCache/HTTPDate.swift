internal import CameoModel
package import Foundation

/// Times as HTTP writes them (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let longDays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Reads the three forms, `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
    /// `Sun Nov  6 08:49:37 1994`, in any case (RFC 9111, section 4.2).
    ///
    /// - Parameters:
    ///   - text: the date without surrounding white space. The day of the week is not checked. A leap second is read as the
    ///     second before it.
    ///   - now: a two-digit year is the latest one with these digits that is at most 50 years after this time.
    /// - Returns: nil for any other text, such as a time zone other than GMT.
    package static func parse(_ text: String, now: Date) -> Date? {
        var scanner = DateScanner(text)
        if scanner.word(of: longDays) != nil {
            guard scanner.skip(", "), let day = scanner.number(digits: 2), scanner.skip("-"),
                let month = scanner.word(of: months), scanner.skip("-"),
                let year = scanner.number(digits: 2), scanner.skip(" "),
                let time = scanner.timeOfDay(lastSecond: 60), scanner.skip(" GMT", ignoringCase: true), scanner.isAtEnd
            else { return nil }
            let centuries = utc(now).year / 100
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
                let time = scanner.timeOfDay(lastSecond: 60), scanner.skip(" GMT", ignoringCase: true), scanner.isAtEnd
            else { return nil }
            return date(year, month, day, time)
        }
        guard scanner.skip(" "), let month = scanner.word(of: months), scanner.skip(" "),
            let day = scanner.skip(" ") ? scanner.number(digits: 1) : scanner.number(digits: 2), scanner.skip(" "),
            let time = scanner.timeOfDay(lastSecond: 60), scanner.skip(" "),
            let year = scanner.number(digits: 4), scanner.isAtEnd
        else { return nil }
        return date(year, month, day, time)
    }

    /// The form that senders use, `Sun, 06 Nov 1994 08:49:37 GMT`, rounded down to the second and limited to the years 0
    /// to 9999.
    package static func text(of date: Date) -> String {
        let time = utc(date)
        let day = "\(days[time.weekday]), \(time.day.text(digits: 2)) \(months[time.month - 1])"
        return "\(day) \(time.year.text(digits: 4)) \(time.timeOfDay) GMT"
    }

    /// The month counts from zero.
    private static func date(_ year: Int, _ month: Int, _ day: Int, _ secondOfDay: Int) -> Date? {
        UTCTime(year: year, month: month + 1, day: day, second: secondOfDay)
            .map { Date(timeIntervalSince1970: Double($0.secondsSince1970)) }
    }

    /// The time in UTC, rounded down to the second and limited to the years 0 to 9999.
    private static func utc(_ date: Date) -> UTCTime {
        let time = date.timeIntervalSince1970
        let seconds = time.isNaN ? 0 : min(max(time, -62_167_219_200), 253_402_300_799).rounded(.down)
        return UTCTime(secondsSince1970: Int(seconds))
    }
}

extension Date {
    /// The time from another instant to this one, at most 2³¹ seconds either way.
    func duration(since other: Date) -> Duration {
        let seconds = timeIntervalSince(other)
        let most = Double(Int.mostDeltaSeconds)
        return .seconds(seconds.isNaN ? 0 : min(max(seconds, -most), most))
    }

    func advanced(by duration: Duration) -> Date {
        addingTimeInterval(Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18)
    }
}

extension Int {
    /// The value that stands for any greater number of seconds (section 1.2.2).
    static let mostDeltaSeconds = 1 << 31

    /// Reads digits alone (section 1.2.2); nil for any other text. However many there are, the result is at most 2³¹.
    init?(deltaSeconds text: String) {
        guard !text.isEmpty else { return nil }
        self = 0
        for byte in text.utf8 {
            guard let digit = byte.digit else { return nil }
            self = Swift.min(self * 10 + digit, Self.mostDeltaSeconds)
        }
    }
}
