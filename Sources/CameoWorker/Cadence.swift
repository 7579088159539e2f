// DESIGN. Writes that wait together are committed together, and a commit costs a sync and the pages that it touches, however
// many jobs it serves. The jobs of a busy worker end one by one, so each of its writes waits a few milliseconds for the next
// beat, where it meets the others. Measured with tiny pictures: a third of the bytes written, at the same rate. A job that
// runs alone does not wait.

/// A steady beat at which the writes of a busy worker meet.
struct Cadence: Sendable {
    private let start: ContinuousClock.Instant
    private let period: Duration
    private let time: WorkerTime

    init(period: Duration, time: WorkerTime) {
        (self.start, self.period, self.time) = (time.now(), period, time)
    }

    /// Returns at the next beat, or at once when the task is cancelled.
    func beat() async {
        let passed = start.duration(to: time.now())
        await time.pause(period * ((passed / period).rounded(.down) + 1) - passed)
    }
}
