internal import CameoHTTPCache
internal import Foundation
internal import Synchronization

/// The server's clock as its answers show it, carried on by the one clock of this machine that nobody sets.
final class ServerTime: Sendable {
    private let seen = Mutex<(date: Date, at: ContinuousClock.Instant)?>(nil)

    /// Up to a second, or what an answer took to arrive, behind the server's; nil if no answer has shown it yet.
    var now: Date? {
        seen.withLock { seen in
            seen.map { $0.date.addingTimeInterval($0.at.duration(to: .now) / .seconds(1)) }
        }
    }

    /// Takes the time from an answer that has just arrived. One without a date changes nothing.
    func note(_ response: HTTPResponse, localTime: Date) {
        guard let date = response.headers["date"].flatMap({ HTTPDate.parse($0, now: localTime) }) else { return }
        seen.withLock { $0 = (date: date, at: ContinuousClock.now) }
    }
}
