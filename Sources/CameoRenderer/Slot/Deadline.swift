internal import Glibc

/// A moment at which waiting ends. Time while the machine is suspended does not count.
struct Deadline {
    private let end: SuspendingClock.Instant

    init(after duration: Duration) {
        end = SuspendingClock.now.advanced(by: duration)
    }

    var hasPassed: Bool { SuspendingClock.now >= end }

    /// The remaining milliseconds for poll(2), rounded up, so that a poll never ends just before the deadline.
    var pollMilliseconds: Int32 {
        let left = SuspendingClock.now.duration(to: end)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        return Int32(clamping: seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
