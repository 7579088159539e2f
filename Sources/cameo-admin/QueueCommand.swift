internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Lists queues, with what waits in them and whether they are paused.",
        discussion: """
            EXAMPLES
              cameo-admin queue
              cameo-admin queue imports --json

            EXIT CODES
              0 done, 1 there is no such queue, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "Only this queue.")
    var name: String?

    @Flag(help: "Prints one queue a line, as the queues of a status-report (JSON).")
    var json = false

    func run() async throws {
        let queues = try await Store(reading: storeOptions.path).queues()
        let shown = queues.filter { name == nil || $0.name == name }
        if let name, shown.isEmpty { throw StoreError.noSuch(.queue, name) }
        for queue in shown {
            if json {
                try Output.message(queue)
            } else {
                Output.line(QueueText.line(queue, escape: TerminalText.escaped))
            }
        }
    }
}
