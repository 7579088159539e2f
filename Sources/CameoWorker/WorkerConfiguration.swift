package import CameoFetch
package import CameoModel
package import CameoStore

/// How a worker pool works. Every duration and number is the operator's to set.
package struct WorkerConfiguration: Sendable {
    /// Jobs claimed at once: some fetch while others render.
    package var concurrency = 8
    /// Fetches under way at once that take this machine's means only; transfers have limits of their own.
    package var fetchConcurrency = 8
    /// Of sources in memory: the fetcher's.
    package var budget = ByteBudget()
    /// Bytes of a source that the store itself holds, and of all overlays of a request together.
    package var maximumSourceBytes = 104_857_600
    /// Only these queues; nil for all.
    package var queues: [String]?
    /// Ends by itself when nothing waits any more.
    package var drains = false
    /// What one attempt may take in all, unless its request says otherwise.
    package var jobTimeout = Duration.seconds(120)
    /// How long running jobs may go on after a shutdown was asked for, before they are given back.
    package var grace = Duration.seconds(25)
    package var retryPolicy = RetryPolicy.standard
    /// How long the writes of a busy worker wait for one another.
    package var cadence = Duration.milliseconds(5)
    /// How often locks of other workers and the worker's own claims are looked at.
    package var sweepInterval = Duration.milliseconds(250)
    /// How often the lease is extended.
    package var leaseInterval = Duration.milliseconds(Lease.milliseconds / 3)
    /// Bytes of cached originals that may stay; nil leaves them alone.
    package var cacheBudget: Int?
    /// How long a drain or a shutdown tries to write into a store that refuses before it gives up.
    package var patience = Duration.seconds(30)
    /// For how long finished jobs stay.
    package var retention = Retention()
    /// How often what is no longer kept is looked for.
    package var maintenanceInterval = Duration.seconds(60)
    /// Random numbers in 0…1, for the jitter of retries.
    package var random: @Sendable () -> Double = { .random(in: 0...1) }

    package init() {}
}
