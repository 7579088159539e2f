package import Foundation

/// The answer to an accepted request. JSON form: `proto-json/enqueue-receipt.schema.json`.
package struct EnqueueReceipt: Hashable, Codable, Sendable {
    package let id: Int64
    package let state: JobState
    package let source: String
    package let queue: String
    package let batch: String?
    package let createdAt: Date
    /// Due from then on.
    package let availableAt: Date
    /// Known before anything is rendered, in the order of the request's renditions.
    package let thumbnails: [RequestedThumbnail]
    package let metadata: [String: JSONValue]?

    package init(
        id: Int64,
        state: JobState,
        source: String,
        queue: String,
        batch: String?,
        createdAt: Date,
        availableAt: Date,
        thumbnails: [RequestedThumbnail],
        metadata: [String: JSONValue]?
    ) {
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
