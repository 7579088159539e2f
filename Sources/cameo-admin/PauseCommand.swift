internal import ArgumentParser
internal import CameoStore
internal import CommandSupport

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause a queue: its waiting jobs are not claimed, its running jobs go on.",
        discussion: """
            Applies to every worker from its next claim until `cameo-admin resume`, across restarts. Requests are \
            still accepted. `cameo-worker --drain` does not wait for jobs of paused queues.

            EXAMPLES
              cameo-admin pause imports
              cameo-admin pause imports --create

            EXIT CODES
              0 done, 1 there is no such queue, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The queue's name.", completion: .queues)
    var queue: String

    @OptionGroup var naming: QueueNaming

    @Flag(help: QueueNaming.helpOfJSON)
    var json = false

    func validate() throws { try naming.check(queue) }

    func run() async throws {
        let store = try storeOptions.open(creating: false)
        let hasChanged = try await store.pause(queue, unknown: naming.unknown)
        guard !json else { return try Output.message(try await store.queue(queue)) }
        Output.line(hasChanged ? "queue \(queue) is paused" : "queue \(queue) was already paused")
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume a paused queue.",
        discussion: """
            EXAMPLES
              cameo-admin resume imports

            EXIT CODES
              0 done, 1 there is no such queue, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The queue's name.", completion: .queues)
    var queue: String

    @Flag(help: QueueNaming.helpOfJSON)
    var json = false

    func run() async throws {
        let store = try storeOptions.open(creating: false)
        let hasChanged = try await store.resume(queue)
        guard !json else { return try Output.message(try await store.queue(queue)) }
        Output.line(hasChanged ? "queue \(queue) is resumed" : "queue \(queue) was not paused")
    }
}
