internal import ArgumentParser
package import CameoModel
internal import CameoWorker
internal import CommandSupport
internal import Foundation

/// Which jobs are claimed, and when the worker ends.
struct WorkOptions: ParsableArguments {
    @Option(help: .value("number", "Concurrent jobs. (default: renderers + 10)"))
    var concurrency: Int?

    @Option(help: .value("names", "Only these queues, comma-separated. (default: all)"), completion: .queues)
    var queues: String?

    @Flag(
        help:
            "Exit when no job is left, waiting for retries but not for jobs scheduled later; exit 1 if any was discarded."
    )
    var drain = false

    @Option(help: .value("duration", "How long running jobs may go on after a shutdown request."))
    var grace = DurationArgument(WorkerConfiguration().grace)

    @Option(
        help: .value("duration", "The time limit of one attempt, unless its request sets one; waiting does not count.")
    )
    var jobTimeout = DurationArgument(WorkerConfiguration().jobTimeout)

    @Option(help: .value("duration", "The wait before the second attempt; doubled before each further one."))
    var retryBase = DurationArgument(RetryPolicy.standard.base)

    @Option(help: .value("duration", "The longest wait between attempts."))
    var retryCap = DurationArgument(RetryPolicy.standard.cap)

    @Option(
        help: .value(
            "22:00-06:00",
            "Claim jobs of background queues, such as backfill, only in these hours of local time. (default: always)"
        )
    )
    var quietHours: QuietHours?

    @Option(
        help: .value(
            "number",
            "Run with its renderers at this nice value, 0 to 19, so that other programs go first. (default: unchanged)"
        )
    )
    var nice: Int?

    @Flag(
        name: .customLong("idle-io"),
        help: "Use disks only when no other program does (the idle I/O class), where their schedulers honour it."
    )
    var idleIO = false

    @Option(
        help: .value(
            "file",
            """
            A file of variables such as CAMEO_LOG_LEVEL=debug, which override the environment. SIGHUP reads it again: \
            the log level and the options for sources, HTTP, its cache and hooks change at once, all others at the next \
            start. (default: none)
            """
        )
    )
    var settings: String?

    func validate() throws {
        if let queues, queueNames(queues).isEmpty { throw ValidationError("--queues \(queues): names no queue") }
        try require(concurrency ?? 1, atLeast: 1, atMost: 10_000, "--concurrency")
        try require(nice ?? 0, atLeast: 0, atMost: 19, "--nice")
        try require(jobTimeout, atLeast: .milliseconds(100), "--job-timeout")
    }

    func configuration(renderers: Int, fetchers: Int) -> WorkerConfiguration {
        var configuration = WorkerConfiguration()
        configuration.concurrency = concurrency ?? renderers + 10
        configuration.fetchConcurrency = fetchers
        configuration.queues = chosenQueues
        configuration.quietHours = quietHours
        configuration.drains = drain
        configuration.grace = grace.duration
        configuration.jobTimeout = jobTimeout.duration
        configuration.retryPolicy = RetryPolicy(base: retryBase.duration, cap: retryCap.duration)
        return configuration
    }

    /// The queues to claim from, or nil for all.
    var chosenQueues: [String]? { queues.map(queueNames) }

    private func queueNames(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

extension QuietHours: ExpressibleByArgument {
    package init?(argument: String) {
        // The zone of a worker is the machine's.
        guard !argument.contains(" ") else { return nil }
        self.init(argument)
    }

    package var defaultValueDescription: String { text }
}
