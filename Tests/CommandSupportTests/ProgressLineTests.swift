import Foundation
import Testing

@testable import CommandSupport

struct ProgressLineTests {
    @Test(arguments: 1...120)
    func itFitsWhateverTheTerminal(columns: Int) {
        let line = ProgressLine(done: 12_345, total: 99_999, rate: 123.4, secondsLeft: 710, note: "17 discarded")
        let text = line.text(columns: columns)
        #expect(text.count <= columns)
        #expect("12345/99999, 123.4/s, about 11 min left, 17 discarded".hasPrefix(text) || text.contains("·"))
    }

    @Test func theBarIsTheShare() {
        func bar(_ done: Int, _ total: Int) -> String {
            let line = ProgressLine(done: done, total: total, rate: 0, secondsLeft: nil, note: "")
            return String(line.text(columns: 80).prefix { $0 != " " })
        }
        #expect(bar(0, 10) == String(repeating: "·", count: 30))
        #expect(bar(5, 10) == String(repeating: "█", count: 15) + String(repeating: "·", count: 15))
        #expect(bar(10, 10) == String(repeating: "█", count: 30))
        #expect(bar(0, 0) == String(repeating: "█", count: 30))
    }

    @Test func thePaceIsThatOfTheLastMinute() {
        let start = ContinuousClock.now
        var pace = Pace()
        #expect(pace.rate == 0)
        // What was done before the first observation does not count.
        pace.note(1_000, at: start)
        #expect(pace.rate == 0)
        for tick in 1...100 { pace.note(1_000 + tick, at: start + .milliseconds(100 * tick)) }
        #expect(abs(pace.rate - 10) < 0.01)
        // Two slow minutes.
        for second in 11...130 { pace.note(1_100 + (second - 10) / 2, at: start + .seconds(second)) }
        #expect(abs(pace.rate - 0.5) < 0.02)
    }
}
