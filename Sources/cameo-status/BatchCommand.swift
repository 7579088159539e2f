internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

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
