internal import CameoModel
internal import Foundation

/// A time as signatures contain it, to the second.
struct SigningTime: Hashable, Sendable {
    /// As `20130524`.
    let day: String
    /// As `20130524T000000Z`.
    let text: String

    init(_ date: Date) {
        let time = UTCTime(secondsSince1970: Int(date.timeIntervalSince1970.rounded(.down)))
        day = "\(time.year.text(digits: 4))\(time.month.text(digits: 2))\(time.day.text(digits: 2))"
        text = "\(day)T\(time.timeOfDay.filter { $0 != ":" })Z"
    }
}
