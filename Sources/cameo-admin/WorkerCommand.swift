internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "worker",
        abstract: "List the workers of a store, or stop them.",
        subcommands: [WorkerListCommand.self, WorkerStopCommand.self],
        defaultSubcommand: WorkerListCommand.self
    )
}

struct WorkerListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the workers and their running jobs. (default)",
        discussion: """
            EXAMPLES
              cameo-admin worker list
              cameo-admin worker list --json

            EXIT CODES
              0 done, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Flag(help: "Print each worker as JSON, one per line, as in a status-report.")
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
