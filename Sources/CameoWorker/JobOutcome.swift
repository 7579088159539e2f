package import CameoFetch
package import CameoModel
internal import CameoStore

/// The outcome of one attempt, for the log and the progress report.
package struct JobOutcome: Sendable {
    /// How an attempt ended.
    package enum Kind: Sendable {
        case completed(thumbnails: Int)
        /// The job completed without rendering: its thumbnails existed already, made of the same bytes.
        case unchanged(thumbnails: Int)
        /// The job was cancelled instead of waiting again: another job was already waiting for the same thumbnails.
        case superseded(by: Int64)
        case retried(JobFailure, after: Duration)
        case discarded(JobFailure)
        /// The job was given back and the attempt does not count: at shutdown, while the store was in trouble, or because
        /// a thumbnail that was to be kept had been removed.
        case released
        /// The job waits as if it had never been claimed: too many others already wait for its host.
        case postponed(Duration)
        /// The job waits as if it had never been claimed: this host cannot do it, and another worker's may.
        case left(HostUnable, for: Duration)
        /// The job was cancelled, or another worker has it: nothing was recorded.
        case leaseLost
        /// The store refused to record the outcome. The next worker will run the job again.
        case unrecorded(reason: String)
    }

    package let jobID: Int64
    package let source: String?
    package let queue: String
    package let attempt: Int
    package let kind: Kind
    package let timings: AttemptTimings
    /// How the source came; nil if it did not.
    package let arrival: SourceArrival?
}

extension JobOutcome {
    /// The outcome of a job that was discarded because too many workers died while they ran it, or because its request was
    /// refused.
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
