internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "Lists the workers of a store, and ends them.",
        subcommands: [WorkerListCommand.self, WorkerStopCommand.self],
        defaultSubcommand: WorkerListCommand.self
    )
}

struct WorkerListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the workers, with what they run. (default)",
        discussion: """
            EXAMPLES
              cameo-admin worker list
              cameo-admin worker list --json

            EXIT CODES
              0 done, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Prints one worker a line, as the workers of a status-report (JSON).")
    var json = false

    func run() async throws {
        for worker in try await storeOptions.openReading().status().workers {
            if json {
                try Output.message(worker)
            } else {
                Output.line(WorkerText.line(worker, escape: TerminalText.escaped))
            }
        }
    }
}
