/// The start of a job's fetch in the store's order of events, which is independent of clocks.
///
/// DESIGN: concurrent jobs for one source share one download (`SharedFetches`). But a job's fetch must begin after the job
/// was accepted (invariant I5), and after the last request that joined it, so the job may join only a download that began
/// later. Neither clock times nor the numbers of jobs can decide that: a clock may be set, and a producer's transaction may
/// stay open for long after it got its job's number. So a job that is accepted or joined notes the last fetch's number.
package struct FetchTicket: Hashable, Sendable {
    /// Later fetches have larger numbers: a thumbnail from an older fetch never replaces one from a newer (invariant I4). All
    /// thumbnails of a download carry the number of the job that began it, so that a joined download never counts as newer
    /// than it is.
    package let sourceSeen: Int64
    /// The number of the last fetch that had begun when the job was requested.
    package let after: Int64
    /// Whether this is the job's first attempt. A later one, or an operator's retry, requests the source anew.
    package let isFirstAttempt: Bool
    /// Whether the server must be asked even if the cached response is fresh.
    package var asksServer: Bool

    package init(sourceSeen: Int64, after: Int64, isFirstAttempt: Bool, asksServer: Bool = false) {
        (self.sourceSeen, self.after, self.isFirstAttempt, self.asksServer) = (
            sourceSeen, after, isFirstAttempt, asksServer
        )
    }

    /// Whether the other fetch, which is under way, began after this ticket's job was accepted, and asks the server if this
    /// one must.
    package func mayJoin(_ other: FetchTicket) -> Bool {
        guard other.asksServer || !asksServer else { return false }
        return other.sourceSeen > sourceSeen || (isFirstAttempt && other.sourceSeen > after)
    }
}
