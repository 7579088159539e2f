import CameoHTTPCache
import Foundation
import TestSupport
import Testing

@Suite("RFC 9110, section 5.6.7: dates", .timeLimit(.minutes(10)))
struct HTTPDateTests {
    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("sun, 06 nov 1994 08:49:37 gmt", 784_111_777), ("Mon, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799), ("Sat Dec 31 23:59:60 2016", 1_483_228_799),
        ]
    )
    func threeFormsAreRead(text: String, seconds: Double) {
        #expect(HTTPDate.parse(text, now: noon) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        arguments: [
            "", "0", "-1", "now", "Sun", "Sun,", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 ",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 EST", "Sun, 06 Nov 1994 08:49:37 GMT+1",
            "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2100 08:49:37 GMT",
            "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94",
            "Sun Nov  6 08:49:37 1994 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
            "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, \u{660}\u{666} Nov 1994 08:49:37 GMT", "Someday, 06-Nov-94 08:49:37 GMT",
            "Wednesday, 09-Nov-94 08:49:37 GMTx",
        ]
    )
    func nonsenseIsNoDate(text: String) {
        #expect(HTTPDate.parse(text, now: noon) == nil)
    }

    /// Now is 2030: 2080 is 50 years off.
    @Test(
        arguments: [
            ("Friday, 01-Jan-30 00:00:00 GMT", 2030), ("Friday, 01-Jan-79 00:00:00 GMT", 2079),
            ("Monday, 01-Jan-80 00:00:00 GMT", 2080), ("Monday, 01-Mar-80 00:00:00 GMT", 1980),
            ("Friday, 01-Jan-81 00:00:00 GMT", 1981), ("Friday, 01-Jan-99 00:00:00 GMT", 1999),
            ("Friday, 29-Feb-00 00:00:00 GMT", 2000),
        ]
    )
    func twoDigitsAreTheLastYearNotOver50YearsAhead(text: String, year: Int) throws {
        let date = try #require(HTTPDate.parse(text, now: noon))
        #expect(HTTPDate.text(of: date).split(separator: " ")[3] == "\(year)")
    }

    @Test func atTheEndOfACenturyTheNextOneIsNear() throws {
        let late = try #require(HTTPDate.parse("Thu, 01 Jan 2099 00:00:00 GMT", now: noon))
        let date = HTTPDate.parse("Saturday, 01-Jan-01 00:00:00 GMT", now: late)
        #expect(date == HTTPDate.parse("Sat, 01 Jan 2101 00:00:00 GMT", now: late))
    }

    @Test(
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (784_111_777.999, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (-0.5, "Wed, 31 Dec 1969 23:59:59 GMT"), (1e300, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-1e300, "Sat, 01 Jan 0000 00:00:00 GMT"), (.nan, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ]
    )
    func isWrittenInTheFormOfSenders(seconds: Double, text: String) {
        #expect(HTTPDate.text(of: Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test func everyTimeOfTheYears0To9999SurvivesWritingAndReading() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<20_000 {
            let seconds = Int.random(in: -62_167_219_200...253_402_300_799, using: &random)
            let date = Date(timeIntervalSince1970: Double(seconds))
            let text = HTTPDate.text(of: date)
            #expect(HTTPDate.parse(text, now: noon) == date)
        }
    }
}
