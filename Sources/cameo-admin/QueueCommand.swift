internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "List queues, or limit how many jobs of one run at once or start within a time.",
        discussion: """
            A limit applies to all workers together; jobs already running above a lower limit go on. A rate of 300/m \
            lets 300 jobs start at once, then five per second; retries count too.

            EXAMPLES
              cameo-admin queue
              cameo-admin queue imports --max-running 4
              cameo-admin queue imports --max-running none
              cameo-admin queue imports --rate 10/s
              cameo-admin queue imports --json

            EXIT CODES
              0 done, 1 there is no such queue, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The queue; all if omitted.", completion: .queues)
    var name: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Jobs that may run at once, 1 or more, or none for no limit.", valueName: "number")
    )
    var maxRunning: RunningLimit?

    @Option(parsing: .unconditional, help: RateLimit.help)
    var rate: RateLimit?

    @OptionGroup var naming: QueueNaming

    @Flag(help: "Print each queue as JSON, one per line, as in a status-report.")
    var json = false

    func validate() throws {
        let changes = maxRunning != nil || rate != nil
        if let limit = maxRunning?.limit, limit < 1 {
            throw ValidationError("--max-running \(limit): must be at least 1, or none")
        }
        guard !changes || name != nil else { throw ValidationError("--max-running and --rate need a queue's name") }
        guard !naming.create || changes else { throw ValidationError("--create needs --max-running or --rate") }
        if let name { try naming.check(name) }
    }

    func run() async throws {
        if let name, maxRunning != nil || rate != nil {
            let store = try storeOptions.open(creating: false)
            if let maxRunning { try await store.limit(queue: name, to: maxRunning.limit, unknown: naming.unknown) }
            if let rate { try await store.limit(queue: name, toRate: rate.rate, unknown: naming.unknown) }
        }
        let store = try storeOptions.openReading()
        let queues = if let name { [try await store.queue(name)] } else { try await store.queues() }
        for queue in queues {
            if json {
                try Output.message(queue)
            } else {
                Output.line(QueueText.line(queue, escape: TerminalText.escaped))
            }
        }
    }
}
