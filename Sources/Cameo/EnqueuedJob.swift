/// The answer to an accepted request: it is durable, and will end.
public struct EnqueuedJob: Hashable, Sendable, Identifiable {
    /// The job's number in its store.
    public let id: Int64
    /// `available`, or `scheduled` for a later time.
    public let state: JobState
    /// What the job makes of: as requested, or the name that the bytes got which were handed over.
    public let source: String
    /// In the order of the request's renditions.
    public let thumbnails: [Thumbnail]
}
