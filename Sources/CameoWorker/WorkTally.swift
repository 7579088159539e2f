internal import CameoFetch
internal import CameoModel
internal import CameoRenderer
internal import CameoStore
internal import Logging
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
        state.withLock { state in
            let last = state.renderers
            state.renderers = renderers
            state.counted.add(renderers.spawned - last.spawned, to: .renderersStarted)
            state.counted.add(renderers.recycled - last.recycled, to: .renderersEnded, "recycled")
            state.counted.add(renderers.killed - last.killed, to: .renderersEnded, "killed")
            state.counted.add(renderers.crashed - last.crashed, to: .renderersEnded, "crashed")
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
        add(1, to: .attempts, outcome.kind.counted)
        if let arrival = outcome.arrival {
            add(1, to: .sources, arrival.name)
            add(timings.sourceBytes ?? 0, to: .sourceBytes, arrival.name)
        }
        let durations: [(Stage, Int?)] = [
            (.fetch, timings.fetchMilliseconds), (.queue, timings.queueMilliseconds),
            (.render, timings.renderMilliseconds), (.store, timings.storeMilliseconds),
        ]
        for case (let stage, let time?) in durations { add(milliseconds: time, to: stage) }
        if case .recorded(.complete(.rendered(let thumbnails, _)), _) = outcome.kind {
            add(thumbnails.count, to: .thumbnails)
            add(timings.outputBytes ?? 0, to: .thumbnailBytes)
        }
    }
}

extension JobOutcome.Kind {
    /// The label of ``StoreCounters/Family/attempts``.
    fileprivate var counted: String {
        switch self {
        case .recorded(.complete(.rendered), _): "completed"
        case .recorded(.complete(.kept), _): "unchanged"
        case .recorded(.retry, _): "retried"
        case .recorded(.discard, _): "discarded"
        case .recorded(.release, _): "released"
        case .recorded(.postpone, _), .recorded(.leave, _): "postponed"
        case .superseded: "superseded"
        case .leaseLost: "lost"
        case .unrecorded: "unrecorded"
        }
    }
}

extension Worker {
    /// Logs one line per attempt: `info` when its job is done, `warning` when it will be retried, `error` when it is
    /// discarded.
    func log(_ outcome: JobOutcome) {
        var metadata: Logger.Metadata = [
            "job": .stringConvertible(outcome.jobID), "queue": "\(outcome.queue)",
            "attempt": .stringConvertible(outcome.attempt),
        ]
        if let source = outcome.source { metadata["source"] = "\(SourceName.of(source))" }
        if let arrival = outcome.arrival { metadata["source_from"] = "\(arrival.name)" }
        for (key, value) in [
            ("throttled_ms", outcome.timings.throttledMilliseconds), ("fetch_ms", outcome.timings.fetchMilliseconds),
            ("queue_ms", outcome.timings.queueMilliseconds), ("render_ms", outcome.timings.renderMilliseconds),
            ("store_ms", outcome.timings.storeMilliseconds),
            ("source_bytes", outcome.timings.sourceBytes), ("output_bytes", outcome.timings.outputBytes),
            ("cpu_ms", outcome.timings.cpuMilliseconds),
        ] {
            if let value { metadata[key] = .stringConvertible(value) }
        }
        switch outcome.kind {
        case .recorded(.complete(let product), _):
            metadata["thumbnails"] = .stringConvertible(product.count)
            let isKept = if case .kept = product { true } else { false }
            logger.info(isKept ? "completed, unchanged" : "completed", metadata: metadata)
        case .superseded(let duplicate):
            metadata["superseded_by"] = .stringConvertible(duplicate)
            logger.info("superseded by a waiting job for the same thumbnails", metadata: metadata)
        case .recorded(.retry(let failure, _), let wait):
            metadata["code"] = "\(failure.code.rawValue)"
            metadata["reason"] = "\(failure.message)"
            metadata["retry_in_ms"] = .stringConvertible(wait.milliseconds)
            logger.warning("will retry", metadata: metadata)
        case .recorded(.discard(let failure), _):
            metadata["code"] = "\(failure.code.rawValue)"
            metadata["reason"] = "\(failure.message)"
            logger.error("discarded", metadata: metadata)
        case .recorded(.release, _):
            logger.info("released", metadata: metadata)
        case .recorded(.postpone, let wait):
            metadata["retry_in_ms"] = .stringConvertible(wait.milliseconds)
            logger.info("postponed: its host is busy", metadata: metadata)
        case .recorded(.leave(let unable, _), let wait):
            metadata["retry_in_ms"] = .stringConvertible(wait.milliseconds)
            logger.warning("left to another worker: this host cannot \(unable.lack.activity)", metadata: metadata)
        case .leaseLost:
            logger.warning("dropped: the job is no longer this worker's", metadata: metadata)
        case .unrecorded(let reason):
            metadata["reason"] = "\(reason)"
            logger.error("the end of the attempt could not be recorded; it will run again", metadata: metadata)
        }
    }
}
