public import Foundation

/// One try of a job: what became of it and where its time went.
public struct JobAttempt: Hashable, Codable, Sendable {
    /// What became of a try.
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        case running, completed, retryable, discarded, cancelled
        /// Given back unharmed by a worker that shut down; not charged.
        case released
        /// The worker died or its lease ran out; not charged.
        case interrupted
        /// A word of a newer version.
        case unknown

        /// Reads any word; what it does not know is ``unknown``.
        public init(from decoder: any Decoder) throws {
            self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }
    }

    /// 1 for the first try, counting every one, charged or not.
    public let number: Int
    /// The id of the worker that had the job.
    public let worker: String
    /// When it was claimed.
    public let startedAt: Date
    /// Nil while it runs.
    public let finishedAt: Date?
    /// What became of it.
    public let outcome: Outcome
    /// Nil unless it failed.
    public let failure: JobFailure?
    /// Time spent waiting for a place to work in: at the source's host, in memory, for a renderer.
    public let waitMilliseconds: Int?
    /// Time spent on fetching the source and the overlays, rendering, and storing, without waiting.
    public let fetchMilliseconds, renderMilliseconds, storeMilliseconds: Int?
    /// Bytes fetched, and bytes of the thumbnails.
    public let sourceBytes, outputBytes: Int?

    package init(
        number: Int,
        worker: String,
        startedAt: Date,
        finishedAt: Date?,
        outcome: Outcome,
        failure: JobFailure?,
        timings: AttemptTimings
    ) {
        self.number = number
        self.worker = worker
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.outcome = outcome
        self.failure = failure
        waitMilliseconds = timings.waitMilliseconds
        fetchMilliseconds = timings.fetchMilliseconds
        renderMilliseconds = timings.renderMilliseconds
        storeMilliseconds = timings.storeMilliseconds
        sourceBytes = timings.sourceBytes
        outputBytes = timings.outputBytes
    }
}

/// Where the time of one try went (milliseconds) and what it moved (bytes); nil for a step not reached.
package struct AttemptTimings: Hashable, Sendable {
    package var waitMilliseconds: Int?
    package var fetchMilliseconds: Int?
    package var renderMilliseconds: Int?
    package var storeMilliseconds: Int?
    /// Of the source and of the overlays together: what was fetched.
    package var sourceBytes: Int?
    package var outputBytes: Int?

    package init() {}
}
