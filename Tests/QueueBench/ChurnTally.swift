import Synchronization

/// What a churn has done, shared by its tasks.
final class ChurnTally: Sendable {
    private struct State {
        var waiting = 0
        var ended = 0
        var claims: [Double] = []
    }

    private let state = Mutex(State())

    /// The number of jobs that were enqueued and have not ended.
    var waiting: Int { state.withLock { $0.waiting } }

    func note(enqueued: Int) { state.withLock { $0.waiting += enqueued } }

    /// Notes that jobs have ended whose claim took so many milliseconds.
    func note(ended: Int, claimedIn milliseconds: Double) {
        state.withLock { state in
            state.waiting -= ended
            state.ended += ended
            state.claims.append(milliseconds)
        }
    }

    /// The number of jobs that have ended since the last report, and the median and the slowest time of their claims.
    func takeReport() -> String {
        state.withLock { state in
            let times = state.claims.sorted()
            defer { (state.ended, state.claims) = (0, []) }
            return "\(state.ended) \(times.isEmpty ? 0 : times[times.count / 2]) \(times.last ?? 0)"
        }
    }
}
