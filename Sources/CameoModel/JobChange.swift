public import Foundation

/// One change of a job's state. JSON form: `proto-json/job-change.schema.json`.
public struct JobChange: Hashable, Codable, Sendable {
    /// The change's position among all changes of the store, in commit order. A reader continues after the last one that
    /// it has seen.
    public let cursor: Int64
    /// The job's id.
    public let job: Int64
    /// The state that the job entered.
    public let state: JobState
    /// The time of the change.
    public let at: Date
    /// The job's queue; nil if the job has been removed.
    public let queue: String?
    /// The batches of the job's request and of those that joined it; nil if there are none.
    public let batches: [String]?

    package init(
        cursor: Int64,
        job: Int64,
        state: JobState,
        at: Date,
        queue: String? = nil,
        batches: [String]? = nil
    ) {
        self.cursor = cursor
        self.job = job
        self.state = state
        self.at = at
        self.queue = queue
        self.batches = batches
    }
}
