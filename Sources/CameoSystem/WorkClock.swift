internal import Synchronization

// DESIGN. Time limits count work, not waiting. Whatever makes an attempt wait (for a renderer, its host, a transfer
// slot or memory) records the wait here, and it is counted separately. A download shared by several attempts has its
// own clock, which theirs follow for as long as they need the download.

/// Measures the time of one attempt, separating work from waiting.
package final class WorkClock: Sendable {
    /// The bytes of a download that have come, and the size of the whole; nil if nobody has said it.
    package typealias Transfer = (received: Int, total: Int?)

    private struct State {
        /// The number of waits in progress.
        var waits = 0
        var waitingSince = ContinuousClock.now
        /// The total of finished waits.
        var waited = Duration.zero
        var transfer: Transfer?
        /// A clock whose waiting counts here too, and how long it had waited when following began.
        var followed: (clock: WorkClock, from: Duration)?
        var processorTime: Duration?

        func total(at now: ContinuousClock.Instant) -> Duration {
            waited + (waits > 0 ? waitingSince.duration(to: now) : .zero)
                + (followed.map { $0.clock.waited(at: now) - $0.from } ?? .zero)
        }
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    package init() {}

    package var waited: Duration { waited(at: .now) }

    package var worked: Duration {
        let now = ContinuousClock.now
        return start.duration(to: now) - waited(at: now)
    }

    private func waited(at now: ContinuousClock.Instant) -> Duration { state.withLock { $0.total(at: now) } }

    package func beginWait() {
        state.withLock { state in
            if state.waits == 0 { state.waitingSince = .now }
            state.waits += 1
        }
    }

    package func endWait() {
        state.withLock { state in
            state.waits -= 1
            if state.waits == 0 { state.waited += state.waitingSince.duration(to: .now) }
        }
    }

    /// The processor time that other processes have used for the attempt; nil if none is known.
    package var processorTime: Duration? { state.withLock { $0.processorTime } }

    package func add(processorTime: Duration) {
        state.withLock { $0.processorTime = ($0.processorTime ?? .zero) + processorTime }
    }

    /// How far the attempt's download has come, or the one that it shares; nil while there is none.
    package var transfer: Transfer? {
        state.withLock { $0.transfer ?? $0.followed?.clock.transfer }
    }

    package func note(_ transfer: Transfer?) { state.withLock { $0.transfer = transfer } }

    /// Counts another clock's waiting as its own from now on; nil stops following.
    package func follow(_ other: WorkClock?) {
        state.withLock { state in
            state.waited += state.followed.map { $0.clock.waited - $0.from } ?? .zero
            state.followed = other.map { ($0, $0.waited) }
        }
    }
}
