import CameoModel
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct QuietHoursTests {
    private static func time(_ text: String) throws -> Date { try #require(WireFormat.date(from: text)) }

    @Test(
        arguments: [
            ("22:00-06:00", "2030-01-31T21:59:59Z", false), ("22:00-06:00", "2030-01-31T22:00:00Z", true),
            ("22:00-06:00", "2030-01-31T00:00:00Z", true), ("22:00-06:00", "2030-01-31T05:59:59Z", true),
            ("22:00-06:00", "2030-01-31T06:00:00Z", false), ("22:00-06:00", "2030-01-31T12:00:00Z", false),
            ("01:30-02:00", "2030-01-31T01:29:00Z", false), ("01:30-02:00", "2030-01-31T01:30:00Z", true),
            ("01:30-02:00", "2030-01-31T02:00:00Z", false), ("22:00-00:00", "2030-01-31T23:59:59Z", true),
            ("22:00-00:00", "2030-01-31T00:00:00Z", false), ("00:00-06:00", "2030-01-31T00:00:00Z", true),
        ]
    )
    func theyMayGoBeyondMidnight(text: String, time: String, isQuiet: Bool) throws {
        let hours = try #require(QuietHours("\(text) UTC"))
        #expect(try hours.contains(Self.time(time)) == isQuiet)
    }

    /// In 2030 the clocks in Berlin are put forward at 02:00 on 31 March, and back at 03:00 on 27 October.
    @Test(
        arguments: [
            ("22:00-06:00", "2030-01-31T21:00:00Z", true), ("22:00-06:00", "2030-01-31T20:59:59Z", false),
            ("22:00-06:00", "2030-07-31T20:00:00Z", true), ("22:00-06:00", "2030-03-31T03:59:59Z", true),
            ("22:00-06:00", "2030-03-31T04:00:00Z", false), ("22:00-06:00", "2030-10-27T04:59:59Z", true),
            ("22:00-06:00", "2030-10-27T05:00:00Z", false), ("02:00-03:00", "2030-03-31T01:00:00Z", false),
            ("02:00-03:00", "2030-10-27T00:30:00Z", true), ("02:00-03:00", "2030-10-27T01:30:00Z", true),
        ]
    )
    func theyFollowTheClockOnTheWall(text: String, time: String, isQuiet: Bool) throws {
        let hours = try #require(QuietHours("\(text) Europe/Berlin"))
        #expect(try hours.contains(Self.time(time)) == isQuiet)
    }

    @Test(
        arguments: [
            ("22:00-06:00 UTC", "2030-01-31T12:00:00Z", "2030-01-31T22:00:00Z"),
            ("22:00-06:00 UTC", "2030-01-31T22:00:00Z", "2030-02-01T22:00:00Z"),
            ("22:00-06:00 Europe/Berlin", "2030-03-30T21:00:00Z", "2030-03-31T20:00:00Z"),
            ("02:30-06:00 Europe/Berlin", "2030-03-30T12:00:00Z", "2030-03-31T01:00:00Z"),
        ]
    )
    func theNextStartIsKnown(text: String, time: String, start: String) throws {
        let hours = try #require(QuietHours(text))
        #expect(try hours.start(after: Self.time(time)) == Self.time(start))
    }

    @Test func theyAreWrittenWithTheirTimeZone() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let hours = try #require(QuietHours("22:00-06:05", timeZone: zone))
        #expect(hours.description == "22:00-06:05 Europe/Berlin" && hours.text == "22:00-06:05")
        #expect(QuietHours(hours.description) == hours)
    }

    @Test(
        arguments: [
            "", "22:00", "22-06", "22:00-06:00-07:00", "24:00-06:00", "22:60-06:00", "2:00-06:00", "22:00 - 06:00",
            "22:00-22:00", "22:00-06:00 Nowhere/Atall", "22:00-06:00 UTC x", "+2:00-06:00", "22:00–06:00",
        ]
    )
    func nothingElseIsRead(text: String) {
        #expect(QuietHours(text) == nil)
    }
}
