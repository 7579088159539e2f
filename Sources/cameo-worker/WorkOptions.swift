internal import ArgumentParser
package import CameoModel
internal import CameoWorker
internal import CommandSupport
internal import Foundation

/// Which jobs are claimed, and when the worker ends.
struct WorkOptions: ParsableArguments {
    @Option(help: "Concurrent jobs. (default: renderers + 16)".taking("number"))
    var concurrency: Int?

    @Option(help: "Only these queues, comma-separated. (default: all)".taking("names"), completion: .queues)
    var queues: String?

    @Flag(
        help:
            "Exit when no job is left, waiting for retries but not for jobs scheduled later; exit 1 if any was discarded."
    )
    var drain = false

    @Option(help: "How long running jobs may go on after a shutdown request.".taking("duration"))
    var grace = WorkerConfiguration().grace

    @Option(
        help: "The time limit of one attempt, unless its request sets one; waiting does not count.".taking("duration")
    )
    var jobTimeout = WorkerConfiguration().jobTimeout

    @Option(help: "The wait before the second attempt; doubled before each further one.".taking("duration"))
    var retryBase = RetryPolicy.standard.base

    @Option(help: "The longest wait between attempts.".taking("duration"))
    var retryCap = RetryPolicy.standard.cap

    @Option(
        help: """
            Claim jobs of background queues, such as backfill, only in these hours of local time. (default: always)
            """.taking("22:00-06:00")
    )
    var quietHours: QuietHours?

    @Option(
        help: """
            Run with its renderers at this nice value, 0 to 19, so that other programs go first. (default: unchanged)
            """.taking("number")
    )
    var nice: Int?

    @Flag(
        name: .customLong("idle-io"),
        help: "Use disks only when no other program does (the idle I/O class), where their schedulers honour it."
    )
    var idleIO = false

    @Option(
        help: """
            A file of variables such as CAMEO_LOG_LEVEL=debug, which override the environment. SIGHUP reads it again: \
            the log level and the options for sources, HTTP, its cache and hooks change at once, all others at the next \
            start. (default: none)
            """.taking("file")
    )
    var settings: String?

    func validate() throws {
        if let queues, queueNames(queues).isEmpty { throw ValidationError("--queues \(queues): names no queue") }
        try require(concurrency ?? 1, atLeast: 1, atMost: 10_000, "--concurrency")
        try require(nice ?? 0, atLeast: 0, atMost: 19, "--nice")
        try require(jobTimeout, atLeast: .milliseconds(100), "--job-timeout")
    }

    func configuration(renderers: Int) -> WorkerConfiguration {
        var configuration = WorkerConfiguration()
        configuration.concurrency = concurrency ?? renderers + 16
        configuration.queues = chosenQueues
        configuration.quietHours = quietHours
        configuration.drains = drain
        configuration.grace = grace
        configuration.jobTimeout = jobTimeout
        configuration.retryPolicy = RetryPolicy(base: retryBase, cap: retryCap)
        return configuration
    }

    /// The queues to claim from, or nil for all.
    var chosenQueues: [String]? { queues.map(queueNames) }

    private func queueNames(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

extension QuietHours: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
