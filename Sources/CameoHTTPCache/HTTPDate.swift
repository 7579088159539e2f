internal import CameoModel
package import Foundation

/// Times as HTTP writes them (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let form = "%a, %d %b %04Y %T GMT"
    private static let days: [Substring] = [
        "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
    ]
    private static let months: [Substring] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Reads the three forms, `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and
    /// `Sun Nov  6 08:49:37 1994`, in any case (RFC 9111, section 4.2), without surrounding white space; nil for any other
    /// text, such as a time zone other than GMT. The day of the week is not checked. A leap second is read as the second
    /// before it, and a two-digit year as the latest one with these digits that is at most 50 years after now.
    package static func parse(_ text: String, now: Date) -> Date? {
        let text = text.prefix(40).lowercased().replacing(":60 ", with: ":59 ")
        let words = text.split { " ,-:".contains($0) }
        guard let day = words.first, (7...8).contains(words.count) else { return nil }
        let isOldest = words.count == 7
        let parts = (isOldest ? [6, 1, 2, 3, 4, 5] : [3, 2, 1, 4, 5, 6]).map { words[$0] }.compactMap { word in
            Int32(word) ?? months.firstIndex(of: word).map { Int32($0) + 1 }
        }
        guard parts.count == 6, text.hasPrefix(isOldest ? "\(day) " : "\(day), ") else { return nil }
        if !isOldest, days.contains(day) {
            let centuries = Int32(UTCTime.text(seconds(now), "%C")) ?? 0
            // The 50 years are of 365.2425 days.
            let latest = now.addingTimeInterval(50 * 31_556_952)
            return [centuries + 1, centuries, centuries - 1].lazy
                .compactMap { date([$0 * 100 + parts[0] % 100] + parts.dropFirst(), "%A, %d-%b-%y %T GMT", text) }
                .first { $0 <= latest }
        }
        guard days.contains(where: { $0.prefix(3) == day }) else { return nil }
        return date(parts, isOldest ? "%a %b %e %T %04Y" : form, text)
    }

    /// The form that senders use, `Sun, 06 Nov 1994 08:49:37 GMT`, rounded down to the second and limited to the years 0
    /// to 9999.
    package static func text(of date: Date) -> String { UTCTime.text(seconds(date), form) }

    /// The date of these parts, if it would be written so, but for the day of the week.
    private static func date(_ parts: [Int32], _ form: String, _ text: String) -> Date? {
        let seconds = UTCTime.seconds(parts)
        let written = UTCTime.text(seconds, form).lowercased()
        guard written.drop(while: { $0 != " " }) == text.drop(while: { $0 != " " }) else { return nil }
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// Rounded down and limited to the years 0 to 9999.
    private static func seconds(_ date: Date) -> Int {
        let time = date.timeIntervalSince1970
        return time.isNaN ? 0 : Int(min(max(time, -62_167_219_200), 253_402_300_799).rounded(.down))
    }
}

extension Date {
    /// The time from another instant to this one, at most 2³¹ seconds either way.
    func duration(since other: Date) -> Duration {
        let seconds = timeIntervalSince(other)
        let most = Double(Int.mostDeltaSeconds)
        return .seconds(seconds.isNaN ? 0 : min(max(seconds, -most), most))
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
