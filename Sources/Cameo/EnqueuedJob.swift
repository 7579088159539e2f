/// The answer to an accepted request: it is durable, and will end.
public struct EnqueuedJob: Hashable, Sendable {
    /// What the request led to.
    public enum Outcome: Hashable, Sendable {
        /// A job of its own.
        case accepted
        /// A job that waited already, for the same thumbnails or under the same unique key.
        case joined
        /// Nothing to do: the thumbnails exist and are fresh enough for the request's ``ThumbnailRequest/refresh``.
        case fresh
    }

    /// Whether there is something to do, and whose job it is.
    public let outcome: Outcome
    /// The job's number in its store. If none is needed, of the one that says so in the request's batch; nil without a
    /// batch.
    public let id: Int64?
    /// `available`, or `scheduled` for a later time; of a job that was joined also `retryable`; `completed` if none is
    /// needed.
    public let state: JobState
    /// What the job makes of: as requested, or the name that the bytes got which were handed over.
    public let source: String
    /// In the order of the request's renditions.
    public let thumbnails: [Thumbnail]
}
