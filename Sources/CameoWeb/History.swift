internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Hummingbird
internal import Synchronization

// DESIGN. The store's counters never go back, so that two readings tell what happened in between: a small read a
// minute, however many pages are open, and no write. Queues are looked at more often, as a burst of jobs is over within a
// minute. The minutes stay in memory, so a server that has just started knows
// of no past. The store could only estimate one: it has no numbers by minute, which would cost a write for every job.

/// What happened in a store during the last hour, minute by minute, since this server started.
final class History: Sendable {
    /// What happened between two readings of the counters.
    struct Minute: Encodable, Sendable {
        /// The times of a stage, estimated from a histogram.
        struct Stage: Encodable, Sendable {
            let stage: StoreCounters.Stage
            let count: Int
            /// In milliseconds.
            let p50, p95: Int
        }

        /// The end of the minute.
        let at: Date
        /// The time since the reading before. It is longer than a minute if the store could not be read meanwhile.
        let milliseconds: Int64
        let completed, discarded, cancelled: Int
        /// Failed attempts that are retried.
        let retried: Int
        /// The jobs at the end of the minute: available or retryable, and running.
        let waiting, running: Int
        /// The most of them that were seen during the minute.
        let mostWaiting, mostRunning: Int
        /// The stages in their order, without those that no attempt had.
        let stages: [Stage]
    }

    private struct State {
        var last: (at: ContinuousClock.Instant, counters: StoreCounters)?
        var minutes: [Minute] = []
        var most = (waiting: 0, running: 0)

        mutating func note(_ queues: [StatusReport.Queue]) {
            most = (max(most.waiting, queues.waiting), max(most.running, queues.running))
        }
    }

    private static let hour = 3_600.0
    private static let looksPerMinute = 12

    private let store: any ReaderStore
    private let pace: Duration
    private let state = Mutex(State())

    init(store: any ReaderStore, pace: Duration) {
        self.store = store
        self.pace = pace
    }

    /// The minutes of the last hour, the oldest first.
    var minutes: [Minute] {
        let start = store.clock.now() - Self.hour
        return state.withLock { $0.minutes.filter { $0.at > start } }
    }

    /// Reads the counters at once and then every minute, and looks at the queues in between, until its task is cancelled.
    func run() async {
        var next = ContinuousClock.now
        var looks = 0
        repeat {
            // A store that cannot be read is read again later.
            if looks.isMultiple(of: Self.looksPerMinute) { try? await read() } else { try? await look() }
            looks += 1
            next = max(next + pace / Self.looksPerMinute, .now)
        } while (try? await Task.sleep(until: next, clock: .continuous)) != nil
    }

    private func look() async throws(StoreError) {
        let queues = try await store.queues()
        state.withLock { $0.note(queues) }
    }

    private func read() async throws(StoreError) {
        let (counters, queues) = (try await store.metrics().counters, try await store.queues())
        let now = ContinuousClock.now
        let end = store.clock.now()
        state.withLock { state in
            state.note(queues)
            defer {
                state.last = (now, counters)
                state.most = (queues.waiting, queues.running)
            }
            guard let last = state.last, case let length = last.at.duration(to: now), length < .seconds(Self.hour)
            else { return }
            let added = counters.added(to: last.counters)
            let minute = Minute(at: end, length: length, added, queues, most: state.most)
            state.minutes = state.minutes.suffix(59) + [minute]
        }
    }
}

extension History.Minute {
    fileprivate init(
        at end: Date,
        length: Duration,
        _ added: StoreCounters,
        _ queues: [StatusReport.Queue],
        most: (waiting: Int, running: Int)
    ) {
        func total(_ family: StoreCounters.Family) -> Int { added.all(family).reduce(0) { $0 + $1.value } }
        at = end
        milliseconds = max(1, Int64(length / .milliseconds(1)))
        (completed, discarded, cancelled) = (total(.completed), total(.discarded), total(.cancelled))
        retried = total(.retriedFailures)
        (waiting, running) = (queues.waiting, queues.running)
        (mostWaiting, mostRunning) = most
        stages = StoreCounters.Stage.allCases.compactMap { stage in
            let histogram = added.histogram(of: stage)
            guard let p50 = histogram.quantile(0.5), let p95 = histogram.quantile(0.95) else { return nil }
            return Stage(stage: stage, count: histogram.count, p50: Int(p50.rounded()), p95: Int(p95.rounded()))
        }
    }
}

extension [StatusReport.Queue] {
    fileprivate var waiting: Int { jobs(.available, .retryable) }
    fileprivate var running: Int { jobs(.running) }

    private func jobs(_ states: JobState...) -> Int {
        reduce(0) { sum, queue in sum + states.reduce(0) { $0 + (queue.jobs[$1] ?? 0) } }
    }
}

extension WebExchange {
    /// Serves what happened in the store during the last hour.
    func history() throws -> Response {
        try admit(.read)
        return try Response(message: ["minutes": site.history.minutes])
    }
}
