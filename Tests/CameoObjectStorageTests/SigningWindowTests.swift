import Foundation
import Testing

@testable import CameoObjectStorage

struct SigningWindowTests {
    /// A multiple of an hour.
    private static let hour = Date(timeIntervalSince1970: 1_700_000_000 - 800)

    private func window(_ lifetime: Duration, after seconds: TimeInterval, end: TimeInterval? = nil) -> SigningWindow {
        let end = end.map { Self.hour.addingTimeInterval($0) }
        return SigningWindow(
            lifetime: lifetime,
            now: Self.hour.addingTimeInterval(seconds),
            credentialsEnd: end
        )
    }

    @Test func withinAWindowAllAreTheSameAndHalfIsLeft() {
        let first = window(.seconds(3_600), after: 0)
        #expect(first.start == Self.hour && first.seconds == 3_600)
        for seconds in [0.0, 1, 1_799.9] {
            let later = window(.seconds(3_600), after: seconds)
            #expect(later == first)
            #expect(later.remaining(at: Self.hour.addingTimeInterval(seconds)) >= .seconds(1_800))
        }
        #expect(window(.seconds(3_600), after: 1_800).start == Self.hour.addingTimeInterval(1_800))
    }

    @Test(arguments: [(0.0, 1), (0.5, 1), (1, 1), (2, 2), (3, 3), (604_800, 604_800), (1e9, 604_800)])
    func aLifetimeIsASecondToSevenDays(wanted: Double, seconds: Int) {
        let window = window(.seconds(wanted), after: 17)
        #expect(window.seconds == seconds)
        #expect(window.start <= Self.hour.addingTimeInterval(17))
        #expect(window.remaining(at: Self.hour.addingTimeInterval(17)) > .zero)
    }

    @Test func itEndsWithTheCredentials() {
        let window = window(.seconds(3_600), after: 600, end: 900.7)
        #expect(window.start == Self.hour && window.seconds == 900)
        #expect(window.remaining(at: Self.hour.addingTimeInterval(600)) == .seconds(300))
        #expect(self.window(.seconds(3_600), after: 600, end: 7_200).seconds == 3_600)
        let ended = self.window(.seconds(3_600), after: 600, end: 500)
        #expect(ended.remaining(at: Self.hour.addingTimeInterval(600)) == .zero)
    }
}
