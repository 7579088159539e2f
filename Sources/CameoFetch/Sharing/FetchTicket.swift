/// When a job's fetch began, in the store's own order of events, which knows no clocks.
///
/// DESIGN: two jobs that want one source at one time make one download (``SharedFetches``). But a job promises that its
/// fetch began after it was accepted (invariant I5), so it may join only a download that began after that. Times of a
/// clock cannot tell: the clock may be set, and a producer's transaction may stay open for long. The store can, because
/// SQLite has one writer: a job's number that stands in the table when a fetch begins was accepted before it.
package struct FetchTicket: Hashable, Sendable {
    /// `sourceSeen`: fetches that began later have larger numbers (invariant I4). What is made of a download carries the
    /// number of the job that began it, so that a joined download never counts as newer than it is.
    package let number: Int64
    package let job: Int64
    /// The largest number of a job when the fetch began.
    package let newestJob: Int64
    /// Whether this is the job's first attempt. An operator's retry is a new wish for the source as it is then, and the
    /// job's number says nothing of when that was.
    package let isFirstAttempt: Bool
    /// Whether the source's server is to be asked however fresh what is cached may be.
    package let asksServer: Bool

    package init(number: Int64, job: Int64, newestJob: Int64, isFirstAttempt: Bool, asksServer: Bool = false) {
        self.number = number
        self.job = job
        self.newestJob = newestJob
        self.isFirstAttempt = isFirstAttempt
        self.asksServer = asksServer
    }

    /// Whether the other's fetch, which is under way, began after this one's job was accepted, and asks where this one
    /// would ask.
    package func mayJoin(_ other: FetchTicket) -> Bool {
        guard other.asksServer || !asksServer else { return false }
        return other.number > number || (isFirstAttempt && job <= other.newestJob)
    }
}
