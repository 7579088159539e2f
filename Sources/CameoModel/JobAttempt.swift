package import Foundation

/// One try of a job: what became of it and where its time went.
package struct JobAttempt: Hashable, Codable, Sendable {
    /// What became of a try.
    package enum Outcome: String, Codable, CaseIterable, Sendable {
        case running, completed, retryable, discarded, cancelled
        /// Given back unharmed by a worker that shut down; not charged.
        case released
        /// The worker died or its lease ran out; not charged.
        case interrupted
        /// A word of a newer version.
        case unknown

        package init(from decoder: any Decoder) throws {
            self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }
    }

    /// 1 for the first try, counting every one, charged or not.
    package let number: Int
    package let worker: String
    package let startedAt: Date
    package let finishedAt: Date?
    package let outcome: Outcome
    package let failure: JobFailure?
    /// Milliseconds spent waiting for a place to work in: at the source's host, in memory, for a renderer.
    package let waitMilliseconds: Int?
    /// Milliseconds spent on fetching the source and the overlays, rendering, and storing, without waiting.
    package let fetchMilliseconds: Int?
    package let renderMilliseconds: Int?
    package let storeMilliseconds: Int?
    package let sourceBytes: Int?
    package let outputBytes: Int?

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
