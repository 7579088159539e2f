public import Foundation

/// The answer to an accepted request. JSON form: `proto-json/enqueue-receipt.schema.json`.
public struct EnqueueReceipt: Hashable, Codable, Sendable {
    /// What an accepted request led to.
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        /// A job of its own.
        case accepted
        /// A job that waited already, for the same thumbnails or under the same unique key.
        case joined
        /// Nothing to do: the thumbnails exist and are fresh enough for the request's ``Refresh``.
        case fresh
    }

    /// Whether there is something to do, and whose job it is.
    public let outcome: Outcome
    /// The job that makes the thumbnails. If none need be made, the job that says so in the request's batch; nil without
    /// a batch.
    public let id: Int64?
    /// The job's, or `completed` if there is none.
    public let state: JobState
    /// As requested, or the name that handed-over bytes were given.
    public let source: String
    /// As requested.
    public let queue: String
    /// As requested.
    public let batch: String?
    /// When the request was accepted.
    public let createdAt: Date
    /// Due from then on.
    public let availableAt: Date
    /// Known before anything is rendered, in the order of the request's renditions.
    public let thumbnails: [RequestedThumbnail]
    /// As requested.
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
