internal import Glibc

/// A worker's clock and its pauses, passed in so that a test can set them.
package struct WorkerTime: Sendable {
    package var now: @Sendable () -> ContinuousClock.Instant
    /// The processor time that this process has used.
    package var used: @Sendable () -> Duration
    /// Returns after the duration; throws `CancellationError` when its task is cancelled before.
    package var sleep: @Sendable (Duration) async throws -> Void

    /// Returns after the duration, or at once when its task is cancelled.
    func pause(_ duration: Duration) async {
        if duration > .zero { try? await sleep(duration) }
    }

    package static let system = WorkerTime(
        now: { .now },
        used: {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
        },
        sleep: { try await Task.sleep(for: $0) }
    )
}
