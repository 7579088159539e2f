internal import CLinux
package import Foundation

/// The two clocks of a store, passed in so that tests can set them.
package struct StoreClock: Sendable {
    /// Wall-clock time, for times that people read and choose.
    package var now: @Sendable () -> Date
    /// Milliseconds that the machine has been awake since its start. Leases use them because they never jump.
    package var uptime: @Sendable () -> Int64

    package init(now: @escaping @Sendable () -> Date, uptime: @escaping @Sendable () -> Int64) {
        self.now = now
        self.uptime = uptime
    }

    package static let system = StoreClock(now: { Date() }, uptime: { cameo_monotonic_ms() })
}

extension Date {
    /// Whole milliseconds since 1970, the form in which the tables keep times.
    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    package var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded()) }
}
