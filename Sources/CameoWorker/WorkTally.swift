internal import CameoFetch
internal import CameoModel
internal import CameoRenderer
internal import CameoStore
internal import Synchronization

/// What a worker has counted since it last told the store (see ``StoreCounters``).
final class WorkTally: Sendable {
    private struct State {
        var counted = StoreCounters()
        /// The renderers as they were counted last.
        var renderers = RendererStatistics()
    }

    private let state = Mutex(State())

    /// Counts how long a job waited for its claim.
    func note(waitedMilliseconds: Int) {
        state.withLock { $0.counted.add(milliseconds: waitedMilliseconds, to: .wait) }
    }

    /// Counts one attempt.
    func note(_ outcome: JobOutcome) {
        state.withLock { $0.counted.note(outcome) }
    }

    /// Takes everything counted until now.
    func take(_ renderers: RendererStatistics) -> StoreCounters {
        typealias End = StoreCounters.RendererEnd
        return state.withLock { state in
            let last = state.renderers
            state.renderers = renderers
            state.counted.add(renderers.spawned - last.spawned, to: .renderersStarted)
            state.counted.add(renderers.recycled - last.recycled, to: .renderersEnded, End.recycled.rawValue)
            state.counted.add(renderers.killed - last.killed, to: .renderersEnded, End.killed.rawValue)
            state.counted.add(renderers.crashed - last.crashed, to: .renderersEnded, End.crashed.rawValue)
            defer { state.counted = StoreCounters() }
            return state.counted
        }
    }

    /// Puts back what the store refused.
    func putBack(_ counted: StoreCounters) {
        state.withLock { $0.counted += counted }
    }
}

extension StoreCounters {
    fileprivate mutating func note(_ outcome: JobOutcome) {
        let timings = outcome.timings
        add(1, to: .attempts, outcome.kind.counted.rawValue)
        if let arrival = outcome.arrival {
            add(1, to: .sources, arrival.name)
            add(timings.sourceBytes ?? 0, to: .sourceBytes, arrival.name)
        }
        let durations: [(Stage, Int?)] = [
            (.fetch, timings.fetchMilliseconds), (.queue, timings.queueMilliseconds),
            (.render, timings.renderMilliseconds), (.store, timings.storeMilliseconds),
        ]
        for case (let stage, let time?) in durations { add(milliseconds: time, to: stage) }
        if case .completed(let thumbnails) = outcome.kind {
            add(thumbnails, to: .thumbnails)
            add(timings.outputBytes ?? 0, to: .thumbnailBytes)
        }
    }
}

extension JobOutcome.Kind {
    fileprivate var counted: StoreCounters.AttemptOutcome {
        switch self {
        case .completed: .completed
        case .unchanged: .unchanged
        case .superseded: .superseded
        case .retried: .retried
        case .discarded: .discarded
        case .released: .released
        case .postponed, .left: .postponed
        case .leaseLost: .lost
        case .unrecorded: .unrecorded
        }
    }
}
