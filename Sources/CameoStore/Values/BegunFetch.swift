/// The store's record of the start of a fetch.
package struct BegunFetch: Hashable, Sendable {
    /// Orders fetches across all workers: a thumbnail from an older fetch never replaces one from a newer (invariant
    /// I4).
    package let sourceSeen: Int64
    /// The number of the last fetch that had begun when the job was requested: it may share only later ones (invariant
    /// I5).
    package let after: Int64
    /// Whether the job was never claimed before, not even before an operator's retry.
    package let isFirstAttempt: Bool

    package init(sourceSeen: Int64, after: Int64, isFirstAttempt: Bool) {
        self.sourceSeen = sourceSeen
        self.after = after
        self.isFirstAttempt = isFirstAttempt
    }
}
