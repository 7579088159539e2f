internal import ArgumentParser
internal import CameoModel
internal import CameoWorker
internal import CommandSupport
internal import Foundation

/// What is claimed, and when it ends.
struct WorkOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Jobs worked on at once. (default: renderers + 6)", valueName: "number"))
    var concurrency: Int?

    @Option(help: ArgumentHelp("Only these queues, with commas between them. (default: all)", valueName: "names"))
    var queues: String?

    @Flag(
        help:
            "Ends when nothing waits any more; waits for retries, not for jobs scheduled later. Exit 1 if any was discarded."
    )
    var drain = false

    @Option(
        help: ArgumentHelp("Seconds that running jobs may go on after a shutdown was asked for.", valueName: "seconds")
    )
    var grace = 25.0

    @Option(
        help: ArgumentHelp(
            "Seconds that one attempt may take, unless its request says otherwise.",
            valueName: "seconds"
        )
    )
    var jobTimeout = 120.0

    @Option(
        help: ArgumentHelp(
            "Seconds before the second attempt; twice as long before each further one.",
            valueName: "seconds"
        )
    )
    var retryBase = 2.0

    @Option(help: ArgumentHelp("Seconds before another attempt, at most.", valueName: "seconds"))
    var retryCap = 600.0

    func validate() throws {
        if let queues, queueNames(queues).isEmpty { throw ValidationError("--queues \(queues): names no queue") }
        try require(concurrency ?? 1, atLeast: 1, atMost: 10_000, "--concurrency")
        try require(grace, atLeast: 0, "--grace")
        try require(jobTimeout, atLeast: 0.1, "--job-timeout")
        try require(retryBase, atLeast: 0, "--retry-base")
        try require(retryCap, atLeast: 0, "--retry-cap")
    }

    func configuration(renderers: Int, fetchers: Int) -> WorkerConfiguration {
        var configuration = WorkerConfiguration()
        configuration.concurrency = concurrency ?? renderers + 6
        configuration.fetchConcurrency = fetchers
        configuration.queues = queues.map(queueNames)
        configuration.drains = drain
        configuration.grace = .seconds(grace)
        configuration.jobTimeout = .seconds(jobTimeout)
        configuration.retryPolicy = RetryPolicy(base: .seconds(retryBase), cap: .seconds(retryCap))
        return configuration
    }

    private func queueNames(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
