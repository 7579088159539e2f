package import CameoStore
package import Foundation
internal import Synchronization

/// A clock that stands still until a test advances it.
package final class ConformanceClock: Sendable {
    private struct Times {
        var now = Date(timeIntervalSince1970: 1_900_000_000)
        var uptime: Int64 = 1_000_000
    }

    private let times = Mutex(Times())

    package init() {}

    package func advance(seconds: Double) {
        times.withLock { times in
            times.now += seconds
            times.uptime += Int64(seconds * 1_000)
        }
    }

    /// Somebody sets the clock; the machine's own count of time goes on.
    package func jump(days: Double) { times.withLock { $0.now += days * 86_400 } }

    package var now: Date { times.withLock { $0.now } }

    package var storeClock: StoreClock {
        StoreClock(now: { self.now }, uptime: { self.times.withLock { $0.uptime } })
    }
}
