package import CameoModel
package import Foundation

/// A change of a job's state.
package struct JobChange: Hashable, Sendable {
    /// The change's position in commit order, from which a reader can continue.
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
