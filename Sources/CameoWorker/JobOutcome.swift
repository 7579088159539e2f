package import CameoFetch
package import CameoModel
internal import CameoStore

/// What became of one attempt, for the log and the progress.
package struct JobOutcome: Sendable {
    /// How it ended.
    package enum Kind: Sendable {
        case completed(thumbnails: Int)
        /// Completed without a rendering: its thumbnails existed, of the same bytes.
        case unchanged(thumbnails: Int)
        /// It was to wait again, but another job waits for the same thumbnails.
        case superseded(by: Int64)
        case retried(JobFailure, after: Duration)
        case discarded(JobFailure)
        /// Given back: at shutdown, or because a thumbnail that it was to keep has gone meanwhile.
        case released
        /// As if it had not been claimed: its host has too many who wait for it.
        case postponed(Duration)
        /// The job was cancelled, or another worker has it: nothing was written.
        case leaseLost
        /// The store refused to record the end; the next worker will run the job again.
        case unrecorded(reason: String)
    }

    package let jobID: Int64
    package let source: String?
    package let queue: String
    package let attempt: Int
    package let kind: Kind
    package let timings: AttemptTimings
    /// How its source came; nil if it did not.
    package let arrival: SourceArrival?
}

extension JobOutcome {
    /// A job given up because worker after worker died of it.
    init(lost job: LostJob) {
        self.init(
            jobID: job.id,
            source: job.source,
            queue: job.queue,
            attempt: job.attempt,
            kind: .discarded(job.failure),
            timings: AttemptTimings(),
            arrival: nil
        )
    }
}
