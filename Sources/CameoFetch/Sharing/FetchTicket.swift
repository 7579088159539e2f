/// The start of a job's fetch in the store's order of events, which is independent of clocks.
///
/// DESIGN: concurrent jobs for one source share one download (``SharedFetches``). But a job's fetch must begin after the job
/// was accepted (invariant I5), so the job may join only a download that began later. Clock times cannot decide that: the
/// clock may be set, and a producer's transaction may stay open for long. The store can, because SQLite has one writer: a
/// job whose number is in the table when a fetch begins was accepted before the fetch.
package struct FetchTicket: Hashable, Sendable {
    /// `sourceSeen`: later fetches have larger numbers (invariant I4). All thumbnails of a download carry the number of the
    /// job that began it, so that a joined download never counts as newer than it is.
    package let number: Int64
    package let job: Int64
    /// The largest job number when the fetch began.
    package let newestJob: Int64
    /// Whether this is the job's first attempt. An operator's retry requests the source anew, and the job's number does not
    /// tell when that was.
    package let isFirstAttempt: Bool
    /// Whether the server must be asked even if the cached response is fresh.
    package let asksServer: Bool

    package init(number: Int64, job: Int64, newestJob: Int64, isFirstAttempt: Bool, asksServer: Bool = false) {
        self.number = number
        self.job = job
        self.newestJob = newestJob
        self.isFirstAttempt = isFirstAttempt
        self.asksServer = asksServer
    }

    /// Whether the other fetch, which is under way, began after this ticket's job was accepted, and asks the server if this
    /// one must.
    package func mayJoin(_ other: FetchTicket) -> Bool {
        guard other.asksServer || !asksServer else { return false }
        return other.number > number || (isFirstAttempt && job <= other.newestJob)
    }
}
