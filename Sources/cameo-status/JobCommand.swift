internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct JobCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Show one job: its state, failure, thumbnails and attempts.",
        discussion: """
            If another job superseded it, --wait shows that job. \(Duration.explanation)

            EXAMPLES
              cameo-status job 17
              cameo-status job 17 --wait --wait-timeout 60 --json

            EXIT CODES
              0 done, 1 the job was discarded or cancelled, or does not exist, 2 bad usage, 3 not finished in time, 4 \
            the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The job's id.")
    var id: Int64

    @OptionGroup var waiting: WaitOptions

    @Flag(help: "Print the job as JSON.")
    var json = false

    func run() async throws {
        let store = try storeOptions.openReading()
        var job = try await store.job(id)
        if waiting.wait {
            _ = try await JobWait(store: store, timeout: waiting.waitTimeout).untilFinished([id])
            job = try await store.jobInPlace(of: id)
        }
        try Output.answer(job.withoutSecrets, asJSON: json, JobText.lines(job, escape: TerminalText.escaped))
        if job.state == .discarded || job.state == .cancelled { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}

struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "List jobs and the reasons of their failures, newest first.",
        discussion: """
            The age of a job is the time since it was enqueued, its size that of its thumbnails. On a terminal, long \
            reasons and sources are cut. The CSV (RFC 4180) has them as they are, with a header line.

            EXAMPLES
              cameo-status jobs --state discarded
              cameo-status jobs --state discarded --code source.timeout --source https://shop.example/
              cameo-status jobs --batch holiday --limit 20 --before 4711 --json
              cameo-status jobs --state discarded --limit 10000 --csv > discarded.csv

            EXIT CODES
              0 done, 1 there is no such batch, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup(title: "Selection Options") var selection: JobSelection

    @Option(help: "Only jobs before this one, the last of the previous page.".taking("id"))
    var before: Int64?

    @Option(parsing: .unconditional, help: "List at most this many jobs.".taking("number"))
    var limit = JobFilter().limit

    @Flag(help: "Print each job as JSON, one per line.")
    var json = false

    @Flag(help: "Print CSV.")
    var csv = false

    func validate() throws {
        guard !json || !csv else { throw ValidationError("--csv: not with --json") }
        guard limit > 0 else { throw ValidationError("--limit \(limit): must be at least 1") }
    }

    func run() async throws {
        var filter = try selection.filter()
        (filter.before, filter.limit) = (before, limit)
        let store = try storeOptions.openReading()
        try await selection.expectBatch(in: store)
        let jobs = try await store.jobs(filter)
        if json {
            for job in jobs { try Output.message(job.withoutSecrets) }
        } else if csv {
            let text = JobList(jobs).csv(escape: Output.outputIsTerminal ? TerminalText.escaped : { $0 })
            Output.bytes(Data(text.utf8))
        } else {
            Output.lines(
                JobList(jobs).lines(
                    at: store.clock.now(),
                    columns: OutputTerminal.current?.columns,
                    style: OutputTerminal.style,
                    escape: TerminalText.escaped(_:limit:)
                )
            )
        }
        if !json, !csv, Output.outputIsTerminal, jobs.count == limit, let last = jobs.last {
            Output.error("for the next page: --before \(last.id)")
        }
    }
}

struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Show the progress of a batch and why jobs failed.",
        discussion: """
            A batch is all jobs whose requests carry its label (`cameo-enqueue --batch`). The remaining time is \
            estimated from the rate of the last minute. Jobs removed by retention are not counted. \
            \(Duration.explanation)

            EXAMPLES
              cameo-status batch holiday
              cameo-status batch holiday --wait --wait-timeout 10m
              cameo-status batch holiday --json

            EXIT CODES
              0 done, 1 a job was discarded or cancelled, or there is no such batch, 2 bad usage, 3 not finished in \
            time, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The batch's label.")
    var name: String

    @OptionGroup var waiting: WaitOptions

    @Flag(help: "Print a batch-report as JSON.")
    var json = false

    func run() async throws {
        let store = try storeOptions.openReading()
        let wait = JobWait(store: store, timeout: waiting.waitTimeout)
        let report = waiting.wait ? try await wait.untilFinished(batch: name) : try await store.batch(name)
        try Output.answer(report, asJSON: json, BatchText.lines(report, escape: TerminalText.escaped))
        if report.count(.discarded) + report.count(.cancelled) > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
