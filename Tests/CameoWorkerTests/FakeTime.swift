import Synchronization

@testable import CameoWorker

/// A clock that stands still until a test moves it. A pause ends at once, and moves the clock by its length.
final class FakeTime: Sendable {
    private struct State {
        var now = ContinuousClock.now
        var used = Duration.zero
        var pauses: [Duration] = []
        var onPause: @Sendable (Int) -> Void = { _ in }
    }

    private let state = Mutex(State())

    var now: ContinuousClock.Instant { state.withLock { $0.now } }

    /// The pauses that were made, in their order.
    var pauses: [Duration] { state.withLock { $0.pauses } }

    /// Calls `body` in every pause from now on, with the number of pauses so far, this one included.
    func onPause(_ body: @escaping @Sendable (Int) -> Void) {
        state.withLock { $0.onPause = body }
    }

    func advance(_ duration: Duration) {
        state.withLock { ($0.now, $0.used) = ($0.now + duration, $0.used + duration) }
    }

    /// Time passes, in which the process does not run.
    func freeze(_ duration: Duration) {
        state.withLock { $0.now += duration }
    }

    /// The clock and the pauses in the form in which a worker takes them.
    var worker: WorkerTime {
        WorkerTime(
            now: { self.now },
            used: { self.state.withLock { $0.used } },
            sleep: { duration in
                let (onPause, count) = self.state.withLock { state in
                    (state.now, state.used) = (state.now + duration, state.used + duration)
                    state.pauses.append(duration)
                    return (state.onPause, state.pauses.count)
                }
                onPause(count)
            }
        )
    }
}
