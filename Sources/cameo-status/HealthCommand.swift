internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Check that workers are alive and jobs do not wait too long, for monitors and scripts.",
        discussion: """
            Prints one line per check. Jobs in paused queues and in background queues are ignored. \(DurationArgument.explanation)

            EXAMPLES
              cameo-status health
              cameo-status health --workers 2 --max-lag 5m
              cameo-status health --json

            EXIT CODES
              0 healthy, 1 not healthy, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The number of workers that must be alive and not stopping.", valueName: "number")
    )
    var workers = 1

    @Option(
        help: ArgumentHelp(
            "The longest time that a due job may wait, such as 5m. (default: no limit)",
            valueName: "duration"
        )
    )
    var maxLag: DurationArgument?

    @Flag(help: "Prints a health-report (JSON).")
    var json = false

    func validate() throws {
        guard workers >= 0 else { throw ValidationError("--workers \(workers): must not be negative") }
    }

    func run() async throws {
        let status = try await storeOptions.openReading().status()
        let report = HealthReport(status, workers: workers, maxLag: maxLag?.duration)
        if json {
            try Output.message(report)
        } else {
            Output.lines(
                report.checks.map {
                    "\($0.isHealthy ? "ok" : "failed")\t\($0.name.rawValue)\t\(TerminalText.escaped($0.detail))"
                }
            )
        }
        guard report.isHealthy else { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
