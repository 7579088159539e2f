package import CameoModel

/// A job, or the one that superseded it because it was already waiting for the same thumbnails.
package struct JobPlace: Hashable, Sendable {
    package let job: Int64
    package let state: JobState

    package init(job: Int64, state: JobState) {
        self.job = job
        self.state = state
    }
}
