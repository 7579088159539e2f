/// What the store knows when the fetch of a claimed job begins.
package struct BegunFetch: Hashable, Sendable {
    /// Orders fetches across all workers: a thumbnail of an older fetch never replaces one of a newer (invariant I4).
    package let sourceSeen: Int64
    /// The largest number of a job then: that job and all before it were accepted before the fetch began.
    package let newestJob: Int64
    /// Whether the job was never claimed before, not even before an operator's retry.
    package let isFirstAttempt: Bool

    package init(sourceSeen: Int64, newestJob: Int64, isFirstAttempt: Bool) {
        self.sourceSeen = sourceSeen
        self.newestJob = newestJob
        self.isFirstAttempt = isFirstAttempt
    }
}
