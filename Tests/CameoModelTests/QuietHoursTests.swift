import CameoModel
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct QuietHoursTests {
    private static func time(_ text: String) throws -> Date { try #require(WireFormat.date(from: text)) }

    /// A clock on the wall, by another reader of zones than the C library.
    private static func clock(of zone: String) throws -> (Date) -> Int {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        return { [calendar] time in
            let shown = calendar.dateComponents([.hour, .minute], from: time)
            return (shown.hour ?? 0) * 60 + (shown.minute ?? 0)
        }
    }

    /// Beyond midnight, and by the clock on the wall: in 2030 those of Berlin are put forward at 02:00 on 31 March, and back
    /// at 03:00 on 27 October.
    @Test(
        arguments: [
            ("22:00-06:00", "UTC", "01-31T21:59:59", false), ("22:00-06:00", "UTC", "01-31T22:00:00", true),
            ("22:00-06:00", "UTC", "01-31T00:00:00", true), ("22:00-06:00", "UTC", "01-31T05:59:59", true),
            ("22:00-06:00", "UTC", "01-31T06:00:00", false), ("22:00-06:00", "UTC", "01-31T12:00:00", false),
            ("01:30-02:00", "UTC", "01-31T01:29:00", false), ("01:30-02:00", "UTC", "01-31T01:30:00", true),
            ("01:30-02:00", "UTC", "01-31T02:00:00", false), ("22:00-00:00", "UTC", "01-31T23:59:59", true),
            ("22:00-00:00", "UTC", "01-31T00:00:00", false), ("00:00-06:00", "UTC", "01-31T00:00:00", true),
            ("22:00-06:00", "Europe/Berlin", "01-31T21:00:00", true),
            ("22:00-06:00", "Europe/Berlin", "01-31T20:59:59", false),
            ("22:00-06:00", "Europe/Berlin", "07-31T20:00:00", true),
            ("22:00-06:00", "Europe/Berlin", "03-31T03:59:59", true),
            ("22:00-06:00", "Europe/Berlin", "03-31T04:00:00", false),
            ("22:00-06:00", "Europe/Berlin", "10-27T04:59:59", true),
            ("22:00-06:00", "Europe/Berlin", "10-27T05:00:00", false),
            ("02:00-03:00", "Europe/Berlin", "03-31T01:00:00", false),
            ("02:00-03:00", "Europe/Berlin", "10-27T00:30:00", true),
            ("02:00-03:00", "Europe/Berlin", "10-27T01:30:00", true),
        ]
    )
    func theyAreThoseOfTheClockOnTheWall(text: String, zone: String, time: String, isQuiet: Bool) throws {
        let hours = try #require(QuietHours(text))
        #expect(try hours.contains(Self.time("2030-\(time)Z"), clock: Self.clock(of: zone)) == isQuiet)
    }

    /// Across the changes in Berlin, one in which a whole hour of the clock is missing, and the day that Samoa left out.
    @Test(
        arguments: [
            ("22:00-06:00", "UTC", "2030-01-31T12:00:00Z", "2030-01-31T22:00:00Z", "2030-02-01T06:00:00Z"),
            ("22:00-06:00", "UTC", "2030-01-31T22:00:00Z", "2030-02-01T22:00:00Z", "2030-02-01T06:00:00Z"),
            ("22:00-06:00", "Europe/Berlin", "2030-03-30T12:00:30Z", "2030-03-30T21:00:00Z", "2030-03-31T04:00:00Z"),
            ("22:00-06:00", "Europe/Berlin", "2030-03-30T21:00:00Z", "2030-03-31T20:00:00Z", "2030-03-31T04:00:00Z"),
            ("22:00-06:00", "Europe/Berlin", "2030-10-27T01:30:00Z", "2030-10-27T21:00:00Z", "2030-10-27T05:00:00Z"),
            ("02:30-06:00", "Europe/Berlin", "2030-03-30T12:00:00Z", "2030-03-31T01:00:00Z", "2030-03-31T04:00:00Z"),
            ("02:15-02:45", "Europe/Berlin", "2030-03-30T12:00:00Z", "2030-04-01T00:15:00Z", "2030-04-01T00:45:00Z"),
            ("09:07-17:43", "Pacific/Apia", "2011-12-30T09:30:00Z", "2011-12-30T19:07:00Z", "2011-12-31T03:43:00Z"),
        ]
    )
    func theNextTimesAreKnown(text: String, zone: String, now: String, opens: String, closes: String) throws {
        let hours = try #require(QuietHours(text))
        let times = try hours.times(after: Self.time(now), clock: Self.clock(of: zone))
        #expect(try times.opens == Self.time(opens) && times.closes == Self.time(closes))
    }

    @Test func onlyAZoneThatCannotBeReadIsAFault() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: "\(folder)/Europe", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("TZif2".utf8).write(to: URL(filePath: "\(folder)/Europe/Berlin"))
        try Data("Berlin".utf8).write(to: URL(filePath: "\(folder)/text"))
        func fault(_ zone: String?, link: String) -> String? {
            var environment = ["TZDIR": folder]
            environment["TZ"] = zone
            return LocalTime.fault(in: environment, machine: link)
        }
        let (good, bad) = ("\(folder)/Europe/Berlin", "\(folder)/text")
        for zone in [
            "", "UTC", ":UTC", "Europe/Berlin", ":Europe/Berlin", good, ":\(good)", "UTC-5", "CET-1CEST",
            "CET-1CEST,M3.5.0,M10.5.0/3", "<+0330>-3:30", "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1",
        ] {
            #expect(fault(zone, link: bad) == nil, "\(zone)")
        }
        for zone in ["Europe/Nowhere", "text", bad, "Berlin", "\(folder)/none"] {
            #expect(fault(zone, link: good) == "TZ=\(zone) names no time zone that can be read")
        }
        #expect(fault(nil, link: good) == nil && fault(nil, link: "\(folder)/none") == nil)
        #expect(fault(nil, link: bad) == "\(bad) cannot be read")
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "none")
        #expect(fault(nil, link: "\(folder)/link") == "\(folder)/link cannot be read")
    }

    @Test func earlierWorkersWroteTheHoursAlone() throws {
        let times = QuietTimes(stored: "22:00-06:00 Europe/Berlin")
        #expect(times.hours == "22:00-06:00 Europe/Berlin" && times.opensAt == nil && times.closesAt == nil)
        let now = QuietTimes(try #require(QuietHours("22:00-06:05")), now: .now)
        #expect(now.hours.wholeMatch(of: /22:00-06:05 UTC[+-]\d\d:\d\d/) != nil, "\(now.hours)")
        let written = try WireFormat.encode(now)
        #expect(QuietTimes(stored: String(decoding: written, as: UTF8.self)).hours == now.hours)
    }

    @Test(
        arguments: [
            "", "22:00", "22-06", "22:00-06:00-07:00", "24:00-06:00", "22:60-06:00", "2:00-06:00", "22:00 - 06:00",
            "22:00-22:00", "22:00-06:00 UTC", "+2:00-06:00", "22:00–06:00",
        ]
    )
    func nothingElseIsRead(text: String) {
        #expect(QuietHours(text) == nil)
    }
}
