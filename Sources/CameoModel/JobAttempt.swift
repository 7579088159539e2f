public import Foundation

/// One attempt at a job: its outcome and its timings.
public struct JobAttempt: Hashable, Codable, Sendable {
    /// How an attempt ended.
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        case running, completed, retryable, discarded, cancelled
        /// Released by a worker that shut down; not counted as an attempt.
        case released
        /// The worker died or its lease expired; not counted as an attempt.
        case interrupted
        /// An outcome that a newer version defines.
        case unknown

        /// Decodes any word; an unrecognised one becomes ``unknown``.
        public init(from decoder: any Decoder) throws {
            self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
        }
    }

    /// How far a download has come.
    public struct Transfer: Hashable, Codable, Sendable {
        /// Bytes received, with those of an earlier attempt that were kept.
        public let receivedBytes: Int
        /// The size of the whole; nil if the server has not said it.
        public let totalBytes: Int?

        package init(receivedBytes: Int, totalBytes: Int?) {
            self.receivedBytes = receivedBytes
            self.totalBytes = totalBytes
        }
    }

    /// 1 for the first attempt; released and interrupted attempts have numbers too.
    public let number: Int
    /// The id of the worker that ran the job.
    public let worker: String
    /// When the job was claimed.
    public let startedAt: Date
    /// When the attempt ended; nil while it runs.
    public let finishedAt: Date?
    /// How the attempt ended.
    public let outcome: Outcome
    /// The failure; nil unless the attempt failed.
    public let failure: JobFailure?
    /// Time spent waiting for the source's host or for memory.
    public let throttledMilliseconds: Int?
    /// Time spent fetching the source and overlays, without waiting.
    public let fetchMilliseconds: Int?
    /// Time spent waiting for a renderer.
    public let queueMilliseconds: Int?
    /// Time spent rendering, and storing.
    public let renderMilliseconds, storeMilliseconds: Int?
    /// Bytes fetched, and bytes of thumbnails stored.
    public let sourceBytes, outputBytes: Int?
    /// The download of a running attempt at its worker's last heartbeat, which comes every 10 seconds.
    public let transfer: Transfer?

    package init(
        number: Int,
        worker: String,
        startedAt: Date,
        finishedAt: Date?,
        outcome: Outcome,
        failure: JobFailure?,
        timings: AttemptTimings,
        transfer: Transfer? = nil
    ) {
        self.number = number
        self.worker = worker
        self.startedAt = startedAt
        self.finishedAt = finishedAt
        self.outcome = outcome
        self.failure = failure
        throttledMilliseconds = timings.throttledMilliseconds
        fetchMilliseconds = timings.fetchMilliseconds
        queueMilliseconds = timings.queueMilliseconds
        renderMilliseconds = timings.renderMilliseconds
        storeMilliseconds = timings.storeMilliseconds
        sourceBytes = timings.sourceBytes
        outputBytes = timings.outputBytes
        self.transfer = transfer
    }
}

/// The timings (milliseconds) and sizes (bytes) of one attempt; nil for a step that was not reached.
package struct AttemptTimings: Hashable, Sendable {
    package var throttledMilliseconds: Int?
    package var fetchMilliseconds: Int?
    package var queueMilliseconds: Int?
    package var renderMilliseconds: Int?
    package var storeMilliseconds: Int?
    /// Bytes fetched for the source and overlays together.
    package var sourceBytes: Int?
    package var outputBytes: Int?

    package init() {}
}
