internal import ArgumentParser
internal import CameoModel
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
