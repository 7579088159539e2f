package import CameoModel

package struct RetriedJob: Hashable, Sendable {
    /// The state that the job was in.
    package let before: JobState
    package let settlement: Settlement

    package init(before: JobState, settlement: Settlement) {
        self.before = before
        self.settlement = settlement
    }
}
