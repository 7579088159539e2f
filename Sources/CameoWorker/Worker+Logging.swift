internal import CameoFetch
internal import CameoModel
internal import Logging

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
        ] {
            if let value { metadata[key] = .stringConvertible(value) }
        }
        switch outcome.kind {
        case .completed(let thumbnails):
            metadata["thumbnails"] = .stringConvertible(thumbnails)
            logger.info("completed", metadata: metadata)
        case .unchanged(let thumbnails):
            metadata["thumbnails"] = .stringConvertible(thumbnails)
            logger.info("completed, unchanged", metadata: metadata)
        case .superseded(let duplicate):
            metadata["superseded_by"] = .stringConvertible(duplicate)
            logger.info("superseded by a waiting job for the same thumbnails", metadata: metadata)
        case .retried(let failure, let delay):
            metadata["code"] = "\(failure.code.rawValue)"
            metadata["reason"] = "\(failure.message)"
            metadata["retry_in_ms"] = .stringConvertible(delay.milliseconds)
            logger.warning("will retry", metadata: metadata)
        case .discarded(let failure):
            metadata["code"] = "\(failure.code.rawValue)"
            metadata["reason"] = "\(failure.message)"
            logger.error("discarded", metadata: metadata)
        case .released:
            logger.info("released", metadata: metadata)
        case .postponed(let delay):
            metadata["retry_in_ms"] = .stringConvertible(delay.milliseconds)
            logger.info("postponed: its host is busy", metadata: metadata)
        case .left(let unable, let delay):
            metadata["retry_in_ms"] = .stringConvertible(delay.milliseconds)
            logger.warning("left to another worker: this host cannot \(unable.lack.activity)", metadata: metadata)
        case .leaseLost:
            logger.warning("dropped: the job is no longer this worker's", metadata: metadata)
        case .unrecorded(let reason):
            metadata["reason"] = "\(reason)"
            logger.error("the end of the attempt could not be recorded; it will run again", metadata: metadata)
        }
    }
}
