/// The store's record of the start of a fetch.
package struct BegunFetch: Hashable, Sendable {
    /// Orders fetches across all workers: a thumbnail from an older fetch never replaces one from a newer (invariant
    /// I4).
    package let sourceSeen: Int64
    /// The highest job id at that time: jobs up to it were accepted before the fetch began.
    package let newestJob: Int64
    /// Whether the job was never claimed before, not even before an operator's retry.
    package let isFirstAttempt: Bool

    package init(sourceSeen: Int64, newestJob: Int64, isFirstAttempt: Bool) {
        self.sourceSeen = sourceSeen
        self.newestJob = newestJob
        self.isFirstAttempt = isFirstAttempt
    }
}
