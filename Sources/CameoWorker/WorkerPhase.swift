internal import Synchronization

/// Where a worker stands between its start and its end; shared by its loop, its jobs and the shutdown.
final class WorkerPhase: Sendable {
    private struct State {
        var isStopping = false
        var unrecorded: String?
        var failingSince: ContinuousClock.Instant?
        var lastRefusal: String?
        var hasDrained = false
        var hasLostStore = false
    }

    private let state = Mutex(State())

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func stop() {
        state.withLock { $0.isStopping = true }
    }

    /// Why the end of an attempt could not be written, if that happened.
    var unrecorded: String? {
        get { state.withLock { $0.unrecorded } }
        set { state.withLock { $0.unrecorded = newValue } }
    }

    /// The store's folder was removed or replaced under the worker.
    var hasLostStore: Bool { state.withLock { $0.hasLostStore } }

    func loseStore() {
        state.withLock { $0.hasLostStore = true }
    }

    var hasDrained: Bool { state.withLock { $0.hasDrained } }

    func noteDrained() {
        state.withLock { $0.hasDrained = true }
    }

    /// Notes that the store refused; tells for how long it has, and whether the reason is another than before.
    func storeRefused(_ reason: String) -> (since: Duration, isNews: Bool) {
        state.withLock { state in
            let since = state.failingSince ?? .now
            let isNews = state.lastRefusal != reason
            (state.failingSince, state.lastRefusal) = (since, reason)
            return (since.duration(to: .now), isNews)
        }
    }

    func storeAnswered() {
        state.withLock { ($0.failingSince, $0.lastRefusal) = (nil, nil) }
    }
}
