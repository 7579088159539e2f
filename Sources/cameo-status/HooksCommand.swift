internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

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
