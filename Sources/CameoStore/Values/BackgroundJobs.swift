/// Whether the jobs of background queues count.
package enum BackgroundJobs: Hashable, Sendable {
    case included
    /// As outside the quiet hours of a worker.
    case excluded

    /// For a claim that may take `room` of them.
    package init(room: Int) {
        self = room > 0 ? .included : .excluded
    }
}
