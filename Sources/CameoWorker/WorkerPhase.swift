internal import Synchronization

/// Where a worker stands between its start and its end; shared by its loop, its jobs and the shutdown.
final class WorkerPhase: Sendable {
    private struct State {
        var isStopping = false
        var isExclusive = false
        var failingSince: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func stop() {
        state.withLock { $0.isStopping = true }
    }

    /// True while a suspect runs: nothing is claimed beside it.
    var isExclusive: Bool {
        get { state.withLock { $0.isExclusive } }
        set { state.withLock { $0.isExclusive = newValue } }
    }

    /// Notes that the store refused, and tells for how long it has.
    func storeRefused() -> Duration {
        state.withLock { state in
            let since = state.failingSince ?? .now
            state.failingSince = since
            return since.duration(to: .now)
        }
    }

    func storeAnswered() {
        state.withLock { $0.failingSince = nil }
    }
}
