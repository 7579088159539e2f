internal import CameoStore
internal import Foundation
internal import Synchronization

// DESIGN. Leases, back-offs and due times of a fleet go by one clock, the server's: that of a worker may be an hour off.
// Each transaction asks for it. Between transactions the store's clock is the machine's, corrected by what the last
// answers showed. Tests supply a clock of their own, which then counts everywhere.
final class ServerClock: Sendable {
    /// The time in milliseconds since 1970 of a clock that is used instead of the server's; nil: the server's counts.
    var supplied: Int64? { isSupplied ? storeClock.now().milliseconds : nil }
    let isSupplied: Bool
    let storeClock: StoreClock
    private let correction: Correction

    /// What the machine's clock is behind the server's.
    private final class Correction: Sendable {
        private struct Estimate {
            var milliseconds: Int64 = 0
            /// How wrong it may be: half the round trip.
            var error: Int64 = .max
            var at = ContinuousClock.now
        }

        private let estimate = Mutex(Estimate())

        var milliseconds: Int64 { estimate.withLock { $0.milliseconds } }

        /// Takes an answer unless a better one is less than a minute old.
        func note(_ milliseconds: Int64, error: Int64) {
            estimate.withLock { estimate in
                let now = ContinuousClock.now
                guard error <= estimate.error || estimate.at.duration(to: now) > .seconds(60) else { return }
                estimate = Estimate(milliseconds: milliseconds, error: error, at: now)
            }
        }
    }

    /// - Parameter supplied: the clock to use instead of the server's.
    init(_ supplied: StoreClock?) {
        let correction = Correction()
        self.correction = correction
        isSupplied = supplied != nil
        storeClock =
            supplied
            ?? StoreClock(
                now: { Date().addingTimeInterval(Double(correction.milliseconds) / 1_000) },
                uptime: StoreClock.system.uptime
            )
    }

    /// Learns from the server's time, in milliseconds since 1970, that an answer gave.
    func note(server: Int64, tookSince start: ContinuousClock.Instant) {
        let half = Int64(start.duration(to: .now) / .milliseconds(2))
        correction.note(server - (Date().milliseconds - half), error: half)
    }
}
