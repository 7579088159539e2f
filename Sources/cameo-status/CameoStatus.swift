internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

@main
struct CameoStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cameo-status",
        abstract: "Report on the queue, its jobs and their thumbnails, read-only.",
        discussion: """
            EXAMPLES
              cameo-status
              cameo-status --watch
              cameo-status --json
              cameo-status job 17 --wait
              cameo-status jobs --state discarded --code source.timeout
              cameo-status batch holiday --wait
              cameo-status cat cameo://thumb/0123456789abcdef0123456789abcdef > thumbnail.webp
              cameo-status export thumbnails --batch holiday
              cameo-status sheet holiday.html --batch holiday
              cameo-status events --follow
              cameo-status health --max-lag 5m
              cameo-status hooks
              cameo-status metrics --output /var/lib/prometheus/node-exporter/cameo.prom

            EXIT CODES
              0 done, 1 a job failed or does not exist, 2 bad usage, 3 not finished in time, 4 the store cannot be opened
            """,
        version: CameoVersion.current,
        subcommands: [
            SummaryCommand.self, JobCommand.self, JobsCommand.self, BatchCommand.self, CatCommand.self,
            ExportCommand.self, SheetCommand.self, EventsCommand.self,
            HealthCommand.self, HooksCommand.self, MetricsCommand.self,
        ],
        defaultSubcommand: SummaryCommand.self
    )

    static func main() async {
        await CommandMain.run(Self.self)
    }
}

struct MetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Print counters, durations and sizes in the text format of Prometheus.",
        discussion: """
            For the textfile collector of node_exporter, run it from a timer with --output. cameo-web serves the same at \
            /metrics.

            EXAMPLES
              cameo-status metrics
              cameo-status metrics --output /var/lib/prometheus/node-exporter/cameo.prom

            EXIT CODES
              0 done, 1 the file cannot be written, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(
        help: ArgumentHelp(
            "The file to write, replaced at once so that no reader sees half of it. (default: standard output)",
            valueName: "file"
        ),
        completion: .file()
    )
    var output: String?

    func run() async throws {
        let store = try storeOptions.openReading()
        let text = try await MetricsText(of: store, by: "cameo-status").text(in: .prometheus)
        guard let output else { return Output.bytes(Data(text.utf8)) }
        do {
            try ReportFile.replace(output, with: Data(text.utf8), store: store)
        } catch let error as ExportError {
            throw CommandFailure(error.description, .failed)
        }
    }
}

struct JobCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Show one job: its state, failure, thumbnails and attempts.",
        discussion: """
            If another job superseded it, --wait shows that job. \(DurationArgument.explanation)

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
            _ = try await JobWait(store: store, timeout: waiting.timeout).untilFinished([id])
            job = try await store.jobInPlace(of: id)
        }
        if json {
            try Output.message(job)
        } else {
            Output.lines(JobText.lines(job, escape: TerminalText.escaped))
        }
        if job.state == .discarded || job.state == .cancelled { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}

struct HooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hooks",
        abstract: "Show the deliveries of each hook, and those that failed.",
        discussion: """
            A delivery waits until a worker that knows the hook (`cameo-worker --hooks`) has made it. After the hook's \
            maxAge, three days by default, it has failed; `cameo-admin hooks retry` tries it again.

            EXAMPLES
              cameo-status hooks
              cameo-status hooks --json

            EXIT CODES
              0 done, 1 a delivery has failed, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Failures to show of each hook.", valueName: "number")
    )
    var failures = 10

    @Flag(help: "Print each hook as a hook-report (JSON), one per line.")
    var json = false

    func validate() throws {
        guard failures >= 0 else { throw ValidationError("--failures \(failures): must not be negative") }
    }

    func run() async throws {
        let reports = try await storeOptions.openReading().hooks(failures: failures)
        for report in reports {
            if json {
                try Output.message(report)
            } else {
                Output.lines(HookText.lines(report, escape: TerminalText.escaped))
            }
        }
        if reports.contains(where: { $0.failed > 0 }) { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}

struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Show the progress of a batch and why jobs failed.",
        discussion: """
            A batch is all jobs whose requests carry its label (`cameo-enqueue --batch`). The remaining time is \
            estimated from the rate of the last minute. Jobs removed by retention are not counted. \
            \(DurationArgument.explanation)

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
        let report = waiting.wait ? try await finished(in: store) : try await store.batch(name)
        if json {
            try Output.message(report)
        } else {
            Output.lines(BatchText.lines(report, escape: TerminalText.escaped))
        }
        if report.count(.discarded) + report.count(.cancelled) > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func finished(in store: any Store) async throws -> BatchReport {
        try await BatchWait(store: store, timeout: waiting.timeout).untilFinished(name)
    }
}
