internal import Foundation

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
