public import Foundation

/// One change of a job's state. JSON form: `proto-json/job-change.schema.json`.
public struct JobChange: Hashable, Codable, Sendable {
    /// Its place among all changes of the store, in the order of their commits: a reader goes on from the last one it has
    /// seen.
    public let cursor: Int64
    /// The job's number.
    public let job: Int64
    /// The state that the job entered.
    public let state: JobState
    /// When it did.
    public let at: Date

    package init(cursor: Int64, job: Int64, state: JobState, at: Date) {
        self.cursor = cursor
        self.job = job
        self.state = state
        self.at = at
    }
}
