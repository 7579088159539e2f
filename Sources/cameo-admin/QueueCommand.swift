internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract:
            "List queues, limit how many jobs of one run at once or start within a time, set its hook, share it between tenants, or move it to the background.",
        discussion: """
            A limit applies to all workers together; jobs already running above a lower limit go on. A rate of 300/m \
            lets 300 jobs start at once, then five per second; retries count too. A hook (`cameo-worker --hooks`) is told of \
            the end of each job that is enqueued from then on. Jobs of a background queue are claimed only when those of \
            other queues are not waiting, take up at most half of a worker, and keep to its quiet hours. A fair queue takes its next \
            job from the tenant (`cameo-enqueue --tenant`) that has had least time of processors, by weight (`cameo-admin \
            limit --tenant`), and not the oldest of all.

            EXAMPLES
              cameo-admin queue
              cameo-admin queue imports --max-running 4
              cameo-admin queue imports --max-running none
              cameo-admin queue imports --rate 10/s
              cameo-admin queue imports --hook site
              cameo-admin queue imports --background
              cameo-admin queue uploads --fair
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
        help: "Jobs that may run at once, 1 or more, or none for no limit.".taking("number")
    )
    var maxRunning: Limit<Int>?

    @Option(parsing: .unconditional, help: Limit<StartRate>.help)
    var rate: Limit<StartRate>?

    @Option(help: "The name of a hook, or none for no hook.".taking("name"))
    var hook: String?

    @Flag(inversion: .prefixedNo, help: "Whether it is a background queue.")
    var background: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether it shares the workers between tenants.")
    var fair: Bool?

    @OptionGroup var naming: QueueNaming

    @Flag(help: "Print each queue as JSON, one per line, as in a status-report.")
    var json = false

    func validate() throws {
        if let limit = maxRunning?.value, limit < 1 {
            throw ValidationError("--max-running \(limit): must be at least 1, or none")
        }
        guard !changes || name != nil else {
            throw ValidationError("--max-running, --rate, --hook, --background and --fair need a queue's name")
        }
        guard !naming.create || changes else {
            throw ValidationError("--create needs --max-running, --rate, --hook, --background or --fair")
        }
        if let hook, !ThumbnailRequest.isLabel(hook) {
            throw ValidationError("--hook \(hook): must be 1 to 64 of a-z 0-9 . _ -")
        }
        if let name { try naming.check(name) }
    }

    private var changes: Bool { maxRunning != nil || rate != nil || hook != nil || background != nil || fair != nil }

    func run() async throws {
        if let name, changes {
            let store = try storeOptions.open(creating: false)
            if let maxRunning { try await store.limit(queue: name, to: maxRunning.value, unknown: naming.unknown) }
            if let rate { try await store.limit(queue: name, toRate: rate.value, unknown: naming.unknown) }
            if let background {
                try await store.setBackground(background, queue: name, unknown: naming.unknown)
            }
            if let fair { try await store.setFair(fair, queue: name, unknown: naming.unknown) }
            if let hook {
                let chosen = hook == "none" ? nil : hook
                try await store.setHook(chosen, ofQueue: name, unknown: naming.unknown)
            }
        }
        let store = try storeOptions.openReading()
        let queues = if let name { [try await store.queue(name)] } else { try await store.queues() }
        for queue in queues {
            try Output.answer(queue, asJSON: json, [QueueText.line(queue, escape: TerminalText.escaped)])
        }
    }
}

/// Whether a command may create a queue that has had no job yet.
struct QueueNaming: ParsableArguments {
    static let helpOfJSON = ArgumentHelp("Print the queue after the change as JSON, as in a status-report.")

    @Flag(help: "Create the queue if it does not exist.")
    var create = false

    var unknown: UnknownQueue { create ? .created : .refused }

    /// Refuses to create a queue that no request could name.
    func check(_ queue: String) throws {
        guard create, !ThumbnailRequest.isLabel(queue) else { return }
        throw ValidationError("\(queue): must be 1 to 64 of a-z 0-9 . _ -")
    }
}
