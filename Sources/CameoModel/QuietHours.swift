package import Foundation

/// The hours of a day in which a worker takes jobs of background queues, by the clock on the wall: from a time up to
/// another one, which may be on the next day.
///
/// A clock that is put forward or back makes a night shorter or longer; the hours still begin and end when the clock
/// shows them.
package struct QuietHours: Hashable, Sendable, CustomStringConvertible {
    /// Minutes since midnight.
    package let start, end: Int
    package let timeZone: TimeZone

    /// Reads `22:00-06:00`, or the same with a time zone: `22:00-06:00 Europe/Berlin`. Nil for anything else, and if the
    /// hours begin when they end.
    package init?(_ text: String, timeZone: TimeZone = .current) {
        guard let match = text.wholeMatch(of: #/([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})(?: ([^ ]+))?/#),
            let start = Self.minutes(match.1, match.2), let end = Self.minutes(match.3, match.4), start != end,
            let zone = match.5.map({ TimeZone(identifier: String($0)) }) ?? timeZone
        else { return nil }
        (self.start, self.end, self.timeZone) = (start, end, zone)
    }

    private static func minutes(_ hours: Substring, _ minutes: Substring) -> Int? {
        guard let hours = Int(hours), let minutes = Int(minutes), hours < 24, minutes < 60 else { return nil }
        return hours * 60 + minutes
    }

    private var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        return calendar
    }

    package func contains(_ time: Date) -> Bool {
        let shown = calendar.dateComponents([.hour, .minute], from: time)
        let minute = (shown.hour ?? 0) * 60 + (shown.minute ?? 0)
        return start < end ? (start..<end).contains(minute) : !(end..<start).contains(minute)
    }

    /// When the hours next begin after a time.
    package func start(after time: Date) -> Date? {
        calendar.nextDate(
            after: time,
            matching: DateComponents(hour: start / 60, minute: start % 60, second: 0),
            matchingPolicy: .nextTime
        )
    }

    /// The hours without the time zone.
    package var text: String { "\(Self.text(start))-\(Self.text(end))" }

    package var description: String { "\(text) \(timeZone.identifier)" }

    private static func text(_ minutes: Int) -> String {
        [minutes / 60, minutes % 60].map { $0.text(digits: 2) }.joined(separator: ":")
    }
}

extension StatusReport.Queue {
    /// The queue with the time at which its jobs can start, if it is a background queue and all living workers wait for
    /// their quiet hours.
    package func waiting(for workers: [StatusReport.Worker], now: Date) -> StatusReport.Queue {
        guard isBackground else { return self }
        let hours = workers.filter { $0.isAlive && $0.stopping == nil }.map { $0.quietHours.flatMap { QuietHours($0) } }
        let starts = hours.compactMap { $0 }.filter { !$0.contains(now) }.compactMap { $0.start(after: now) }
        guard !hours.isEmpty, starts.count == hours.count else { return self }
        var queue = self
        queue.opensAt = starts.min()
        return queue
    }
}
