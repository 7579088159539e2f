package import CameoFetch
package import CameoModel
package import CameoStore
package import Foundation
internal import Glibc

/// The settings of a worker.
package struct WorkerConfiguration: Sendable {
    /// The maximum number of jobs claimed at once. Some fetch while others render.
    package var concurrency = 8
    /// The maximum number of concurrent fetches that stay on this machine. Network transfers have their own limits.
    package var fetchConcurrency = FetchConfiguration().maximumTransfers
    /// The memory for sources, shared with the fetcher.
    package var budget = ByteBudget()
    /// The maximum size in bytes of a source that the store holds, and of all overlays of a request together.
    package var maximumSourceBytes = FetchConfiguration().maximumBytes
    /// The queues to work on; nil for all.
    package var queues: [String]?
    /// When jobs of background queues are claimed; nil: always.
    package var quietHours: QuietHours?
    /// Whether the worker ends by itself once no job is left.
    package var drains = false
    /// The time limit of an attempt, unless its request sets another.
    package var jobTimeout = Duration.seconds(120)
    /// How long running jobs may continue after a shutdown was requested, before they are given back.
    package var grace = Duration.seconds(25)
    package var retryPolicy = RetryPolicy.standard
    /// How often the worker checks the locks of other workers and its own claims.
    package var sweepInterval = Duration.milliseconds(250)
    /// How often the worker extends its lease; nil: three times in the time that one lasts.
    package var leaseInterval: Duration?
    /// The maximum size in bytes of the cache of originals; nil for no limit.
    package var cacheBudget: Int?
    /// How long a drain or a shutdown keeps trying to write to a store that refuses.
    package var patience = Duration.seconds(30)
    /// How long finished jobs are kept.
    package var retention = Retention()
    /// How often the worker looks for jobs, thumbnails and blobs to remove.
    package var maintenanceInterval = Duration.seconds(60)
    /// Random numbers in 0…1, for the jitter of retries.
    package var random: @Sendable () -> Double = { .random(in: 0...1) }
    package var time = WorkerTime.system

    package init() {}

    /// Whether jobs of background queues are claimed at a time.
    package func backgroundJobs(at time: Date) -> BackgroundJobs {
        quietHours?.contains(time) ?? true ? .included : .excluded
    }

    /// The most jobs of background queues at once. The other half of the worker is left to jobs that arrive meanwhile.
    var backgroundConcurrency: Int { max(1, concurrency / 2) }
}

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
