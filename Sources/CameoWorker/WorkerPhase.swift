internal import CameoStore
internal import Synchronization

/// Where a worker stands between its start and its end; shared by its loop, its jobs and the shutdown.
final class WorkerPhase: Sendable {
    private struct State {
        var isStopping = false
        var giveBackAt: ContinuousClock.Instant?
        var unrecorded: String?
        var failingSince: ContinuousClock.Instant?
        var lastRefusal: String?
        var hasDrained = false
        var hasLostStore = false
        var retirement: StoreError?
    }

    private let state = Mutex(State())

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Ends the claiming; what runs after `grace` is to be given back, nil: never. Of several words the sooner holds.
    ///
    /// - Returns: false if nothing changed by it.
    @discardableResult
    func stop(grace: Duration?) -> Bool {
        state.withLock { state in
            let giveBackAt = grace.map { ContinuousClock.now + $0 }
            let isSooner = giveBackAt.map { $0 < state.giveBackAt ?? $0 + .seconds(1) } ?? false
            if isSooner { state.giveBackAt = giveBackAt }
            defer { state.isStopping = true }
            return isSooner || !state.isStopping
        }
    }

    /// Ends the claiming because the store has become a newer version's.
    ///
    /// - Returns: false if it ends already.
    func retire(_ reason: StoreError, grace: Duration) -> Bool {
        let isNews = state.withLock { state in
            guard !state.isStopping else { return false }
            defer { state.retirement = reason }
            return state.retirement == nil
        }
        if isNews { stop(grace: grace) }
        return isNews
    }

    /// Why the worker ends, if a newer version's tables are the reason.
    var retirement: StoreError? { state.withLock { $0.retirement } }

    /// Whether what still runs is to be given back.
    var mustGiveBack: Bool { state.withLock { $0.giveBackAt.map { $0 <= .now } ?? false } }

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
