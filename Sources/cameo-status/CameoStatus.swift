internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

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
              cameo-status thumbs --source https://shop.example/shoes/
              cameo-status thumb cameo://thumb/0123456789abcdef0123456789abcdef
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
            SummaryCommand.self, JobCommand.self, JobsCommand.self, BatchCommand.self,
            ThumbCommand.self, ThumbsCommand.self, CatCommand.self, ExportCommand.self, SheetCommand.self,
            EventsCommand.self,
            HealthCommand.self, HooksCommand.self, MetricsCommand.self,
        ],
        defaultSubcommand: SummaryCommand.self
    )

    static func main() async {
        await CommandMain.run(Self.self)
    }
}

struct SummaryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "summary",
        abstract: "Show on one screen what the store holds, does and fails at. (default)",
        discussion: """
            Shows jobs by state, the oldest waiting job and how long the backlog will take, ended jobs per second, the \
            median and 95th percentile of each stage, queues, workers with the jobs that they have run longest, and why \
            jobs failed last. The stages are those of the newest 500 completed jobs: wait is the time from when a job was \
            due to its claim. Failures are counted among the newest 500 discarded jobs and the newest 500 that wait for \
            another attempt.

            With --watch it is redrawn every second until q or Ctrl-C; without a terminal, one line is printed each time. \
            Colours are left out if NO_COLOR is set.

            EXAMPLES
              cameo-status
              cameo-status --watch
              cameo-status --json

            EXIT CODES
              0 done, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Redraw the status every second.")
    var watch = false

    @Flag(help: "Print a status-report as JSON.")
    var json = false

    func validate() throws {
        guard !watch || !json else {
            throw ValidationError("--watch draws for people; programs follow `cameo-status events --follow`")
        }
    }

    func run() async throws {
        let store = try storeOptions.openReading()
        if watch {
            var status = StatusWatch(store: store)
            return try await status.run()
        }
        var report = try await store.status()
        // All of them, for programs.
        if json, report.tenants != nil { report.tenants = try await store.tenants(.sharing).tenants }
        let text = StatusText(
            columns: OutputTerminal.current?.columns,
            style: OutputTerminal.style,
            escape: TerminalText.escaped
        )
        try Output.answer(report, asJSON: json, text.lines(report))
    }
}
