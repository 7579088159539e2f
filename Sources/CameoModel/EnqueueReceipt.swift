public import Foundation

/// The answer to an accepted request. JSON form: `proto-json/enqueue-receipt.schema.json`.
public struct EnqueueReceipt: Hashable, Codable, Sendable {
    /// The effect of an accepted request.
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        /// A new job was created.
        case accepted
        /// The request was merged into a waiting job for the same thumbnails or with the same unique key.
        case joined
        /// No job was needed: the thumbnails exist and are fresh enough for the request's ``Refresh``.
        case fresh
    }

    /// Whether a job was created, joined or not needed.
    public let outcome: Outcome
    /// The job that makes the thumbnails. If none need making, the completed job that represents the request in its
    /// batch; nil without a batch.
    public let id: Int64?
    /// The job's state, or `completed` if there is no job.
    public let state: JobState
    /// The source as requested, or the name assigned to uploaded bytes.
    public let source: String
    /// The queue as requested.
    public let queue: String
    /// The batch as requested.
    public let batch: String?
    /// When the request was accepted.
    public let createdAt: Date
    /// When the job becomes due.
    public let availableAt: Date
    /// The thumbnails' URIs, known before anything is rendered, in the order of the request's renditions.
    public let thumbnails: [RequestedThumbnail]
    /// The metadata as requested.
    public let metadata: [String: JSONValue]?

    package init(
        outcome: Outcome,
        id: Int64?,
        state: JobState,
        source: String,
        queue: String,
        batch: String?,
        createdAt: Date,
        availableAt: Date,
        thumbnails: [RequestedThumbnail],
        metadata: [String: JSONValue]?
    ) {
        self.outcome = outcome
        self.id = id
        self.state = state
        self.source = source
        self.queue = queue
        self.batch = batch
        self.createdAt = createdAt
        self.availableAt = availableAt
        self.thumbnails = thumbnails
        self.metadata = metadata
    }
}
