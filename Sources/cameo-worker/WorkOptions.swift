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

    @Option(
        help: """
            The waits between attempts: base, before the second one, doubled before each further one; cap, the longest. \
            Repeatable. (default: base=\(RetryPolicy.standard.base.argument),cap=\(RetryPolicy.standard.cap.argument))
            """.taking("what=duration"),
        transform: Change.reading([NamedValue("base", \.base), NamedValue("cap", \.cap)])
    )
    var retry: [Change<RetryPolicy>] = []

    @Option(
        help: """
            Claim jobs of background queues, such as backfill, only in these hours of local time. (default: always)
            """.taking("22:00-06:00")
    )
    var quietHours: QuietHours?

    /// How far the worker makes way for other programs.
    struct Niceness {
        enum Disk: String, ExpressibleByArgument { case idle }

        var value: Int?
        var disk: Disk?
    }

    @Option(
        help: """
            Run with its renderers at this nice value, 0 to 19, so that other programs go first; with io=idle, use disks \
            only when no other program does (the idle I/O class), where their schedulers honour it. 10,io=idle. (default: \
            unchanged)
            """.taking("number"),
        transform: Change.reading([NamedValue("", \.value), NamedValue("io", \.disk)])
    )
    var nice: [Change<Niceness>] = []

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
        try require(niceness.value ?? 0, atLeast: 0, atMost: 19, "--nice")
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
        retry.apply(to: &configuration.retryPolicy)
        return configuration
    }

    var niceness: Niceness {
        var niceness = Niceness()
        nice.apply(to: &niceness)
        return niceness
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
