package import CameoModel
package import Foundation

/// A change of a job's state.
package struct JobChange: Hashable, Sendable {
    /// Its place among all changes, in the order of their commits: what a reader goes on from.
    package let cursor: Int64
    package let job: Int64
    package let state: JobState
    package let at: Date

    package init(cursor: Int64, job: Int64, state: JobState, at: Date) {
        self.cursor = cursor
        self.job = job
        self.state = state
        self.at = at
    }
}
