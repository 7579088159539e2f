package import Foundation

/// The hours of a day in which a worker takes jobs of background queues, by the machine's local time: from a time up to
/// another one, which may be on the next day.
///
/// A clock that is put forward or back makes a night shorter or longer; the hours still begin and end when the clock
/// shows them.
package struct QuietHours: Hashable, Sendable, CustomStringConvertible {
    /// Minutes since midnight.
    private let start, end: Int

    /// Reads `22:00-06:00`. Nil for anything else, and if the hours begin when they end.
    package init?(_ text: String) {
        guard let match = text.wholeMatch(of: #/([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})/#),
            let start = Self.minutes(match.1, match.2), let end = Self.minutes(match.3, match.4), start != end
        else { return nil }
        (self.start, self.end) = (start, end)
    }

    private static func minutes(_ hours: Substring, _ minutes: Substring) -> Int? {
        guard let hours = Int(hours), let minutes = Int(minutes), hours < 24, minutes < 60 else { return nil }
        return hours * 60 + minutes
    }

    /// `clock` tells the minutes since midnight that the clock on the wall shows at a time.
    package func contains(_ time: Date, clock: (Date) -> Int = LocalTime.minute) -> Bool {
        let minute = clock(time)
        return start < end ? (start..<end).contains(minute) : !(end..<start).contains(minute)
    }

    /// When the hours next begin and end after a time; nil: not within four days, as no clock shows them.
    package func times(after time: Date, clock: (Date) -> Int = LocalTime.minute) -> (opens: Date?, closes: Date?) {
        let isOpen = contains(time, clock: clock)
        let turn = turn(after: time, clock)
        let next = turn.flatMap { self.turn(after: $0, clock) }
        return isOpen ? (opens: next, closes: turn) : (opens: turn, closes: next)
    }

    /// The first minute at which the hours have begun or ended since a time.
    private func turn(after time: Date, _ clock: (Date) -> Int) -> Date? {
        let isOpen = contains(time, clock: clock)
        var minute = (time.timeIntervalSince1970 / 60).rounded(.down)
        let limit = minute + 4 * 1_440
        while minute < limit {
            let shown = clock(Date(timeIntervalSince1970: minute * 60))
            let left = ((isOpen ? end : start) - shown + 1_440) % 1_440
            // A clock is not put forward by more than three hours.
            minute += Double(max(1, left - 180))
            let turn = Date(timeIntervalSince1970: minute * 60)
            if contains(turn, clock: clock) != isOpen { return turn }
        }
        return nil
    }

    package var description: String { "\(Self.text(start))-\(Self.text(end))" }

    private static func text(_ minutes: Int) -> String {
        [minutes / 60, minutes % 60].map { $0.text(digits: 2) }.joined(separator: ":")
    }
}

/// A worker's quiet hours, for others, whose local time may be another.
package struct QuietTimes: Hashable, Codable, Sendable {
    /// The hours, and what their clock differs from UTC: `22:00-06:00 UTC+01:00`.
    package let hours: String
    package var opensAt, closesAt: Date?
    /// See ``LocalTime/fault(in:machine:)``.
    package var zoneFault: String?
}

extension QuietTimes {
    package init(_ hours: QuietHours, now: Date) {
        self.hours = "\(hours) \(LocalTime.offset(at: now))"
        (opensAt, closesAt) = hours.times(after: now)
        zoneFault = LocalTime.fault()
    }

    /// What the text in a worker's row says.
    package init(stored text: String) {
        // Earlier workers wrote the hours alone.
        self = (try? WireFormat.decode(Self.self, from: Data(text.utf8))) ?? Self(hours: text)
    }
}

/// The local time, as the C library has it (https://man7.org/linux/man-pages/man3/tzset.3.html): from `TZ`, which may name
/// a zone, a file or a rule, or else from /etc/localtime.
package enum LocalTime {
    /// The minutes since midnight.
    package static func minute(of time: Date) -> Int {
        let shown = parts(of: time)
        return Int(shown.tm_hour) * 60 + Int(shown.tm_min)
    }

    /// `UTC+01:00`.
    static func offset(at time: Date) -> String {
        let minutes = parts(of: time).tm_gmtoff / 60
        let (hours, rest) = abs(minutes).quotientAndRemainder(dividingBy: 60)
        return "UTC\(minutes < 0 ? "-" : "+")\(hours.text(digits: 2)):\(rest.text(digits: 2))"
    }

    private static func parts(of time: Date) -> tm {
        var seconds = time_t(time.timeIntervalSince1970.rounded(.down))
        var shown = tm()
        tzset()
        localtime_r(&seconds, &shown)
        return shown
    }

    /// Why the time is UTC although another zone is named; nil if none is, or if it can be read.
    package static func fault(
        in environment: [String: String] = ProcessInfo.processInfo.environment,
        machine link: String = "/etc/localtime"
    ) -> String? {
        guard let zone = environment["TZ"] else {
            return isFile(link) || (try? FileManager.default.attributesOfItem(atPath: link)) == nil
                ? nil : "\(link) cannot be read"
        }
        let name = zone.hasPrefix(":") ? String(zone.dropFirst()) : zone
        let folder = environment["TZDIR"] ?? "/usr/share/zoneinfo"
        let isKnown =
            name.isEmpty || name == "UTC" || isFile(name.hasPrefix("/") ? name : "\(folder)/\(name)")
            // CET-1CEST,M3.5.0,M10.5.0/3
            || zone.starts(with: #/(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)[+-]?[0-9]/#)
        return isKnown ? nil : "TZ=\(zone) names no time zone that can be read"
    }

    /// Whether there is a compiled zone (RFC 9636).
    private static func isFile(_ path: String) -> Bool {
        FileManager.default.contents(atPath: path)?.starts(with: Data("TZif".utf8)) ?? false
    }
}

extension StatusReport.Queue {
    /// The queue with the time at which its jobs can start, if it is a background queue and all living workers wait for
    /// their quiet hours.
    package func waiting(for workers: [StatusReport.Worker], now: Date) -> StatusReport.Queue {
        guard isBackground else { return self }
        let living = workers.filter { $0.isAlive && $0.stopping == nil }
        // Hours that end before they begin are open.
        let starts = living.compactMap { worker in
            worker.backgroundOpensAt.flatMap { $0 > now && $0 < worker.backgroundClosesAt ?? .distantFuture ? $0 : nil }
        }
        guard !living.isEmpty, starts.count == living.count else { return self }
        var queue = self
        queue.opensAt = starts.min()
        return queue
    }
}
