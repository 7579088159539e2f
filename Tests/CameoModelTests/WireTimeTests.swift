import CameoModel
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct WireTimeTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2030-01-31T12:00:00Z", 1_896_091_200), ("1969-12-31T23:59:59.5Z", -0.5),
            ("2030-01-31T12:00:00.250+02:00", 1_896_084_000.25), ("2030-01-31T12:00:00-00:30", 1_896_093_000),
            ("2000-02-29T00:00:00Z", 951_782_400), ("2100-02-28T23:59:59Z", 4_107_542_399),
            ("0001-01-01T00:00:00Z", -62_135_596_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("2024-12-31T23:59:59.999999999Z", 1_735_689_599.999999999),
        ]
    )
    func readsRFC3339(text: String, seconds: Double) throws {
        #expect(try #require(WireFormat.date(from: text)) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-0.001, "1969-12-31T23:59:59.999Z"),
            (1_700_000_000.9994, "2023-11-14T22:13:20.999Z"), (1_700_000_000.9996, "2023-11-14T22:13:21.000Z"),
            (951_825_600, "2000-02-29T12:00:00.000Z"), (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (-62_167_219_200, "0000-01-01T00:00:00.000Z"), (1e15, "9999-12-31T23:59:59.999Z"),
            (-1e15, "0000-01-01T00:00:00.000Z"),
        ]
    )
    func writesUTCWithMilliseconds(seconds: Double, text: String) {
        #expect(WireFormat.text(of: Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test func everyMillisecondSurvives() throws {
        for second in [0, 951_868_799, 1_732_161_234, 1_900_000_000, 253_402_300_799, -62_167_219_200] {
            for millisecond in 0..<1_000 {
                let text = WireFormat.text(
                    of: Date(timeIntervalSince1970: Double(second) + Double(millisecond) / 1_000)
                )
                #expect(text.hasSuffix(".\(String(1_000 + millisecond).dropFirst())Z"))
                #expect(WireFormat.text(of: try #require(WireFormat.date(from: text))) == text)
            }
        }
    }

    @Test func everyDayOfFourHundredYearsIsTheCalendarsDay() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        for day in stride(from: -25_000, through: 121_000, by: 7) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let text = WireFormat.text(of: date)
            let numbers = text.prefix(10).split(separator: "-").map { Int($0) }
            #expect(numbers == [parts.year, parts.month, parts.day])
            #expect(WireFormat.date(from: text) == date)
        }
    }

    @Test(
        arguments: [
            "", "2030-01-31", "2030-01-31T12:00:00", "2030-01-31 12:00:00Z", "2030-01-31t12:00:00Z",
            "2030-01-31T12:00:00z",
            "2030-01-31T12:00Z", "2030-1-31T12:00:00Z", "02030-01-31T12:00:00Z", "+2030-01-31T12:00:00Z",
            "2030-01-31T12:00:00.Z", "2030-01-31T12:00:00,5Z", "2030-01-31T12:00:00.1234567890Z",
            "2030-01-31T12:00:00Z ", " 2030-01-31T12:00:00Z", "2030-01-31T12:00:00Zx", "2030-01-31T12:00:00GMT",
            "2030-01-31T12:00:00+02", "2030-01-31T12:00:00+0200", "2030-01-31T12:00:00+24:00",
            "2030-01-31T12:00:00+02:60", "2030-01-31T24:00:00Z", "2030-01-31T12:60:00Z", "2030-01-31T23:59:60Z",
            "2030-00-31T12:00:00Z", "2030-13-31T12:00:00Z", "2030-01-00T12:00:00Z", "2030-01-32T12:00:00Z",
            "2030-02-29T12:00:00Z", "2030-02-30T12:00:00Z", "2030-04-31T12:00:00Z", "1900-02-29T12:00:00Z",
            "20300131T120000Z", "٢030-01-31T12:00:00Z", "2030-01-31T12:00:-1Z",
        ]
    )
    func refusesOtherTexts(text: String) { #expect(WireFormat.date(from: text) == nil) }
}
