internal import ArgumentParser
internal import CameoStore
internal import CommandSupport

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Keeps a queue's waiting jobs from the workers. What runs goes on.",
        discussion: """
            Holds from the next claim on, for every worker, and until `cameo-admin resume`, also over restarts. Requests are \
            accepted meanwhile. `cameo-worker --drain` does not wait for jobs of paused queues.

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
        let isNews = try await store.pause(queue, unknown: naming.unknown)
        guard !json else { return try Output.message(try await store.queue(queue)) }
        Output.line(isNews ? "queue \(queue) is paused" : "queue \(queue) was paused already")
    }
}

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Lets the workers have a paused queue's jobs again, at once.",
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
        let isNews = try await store.resume(queue)
        guard !json else { return try Output.message(try await store.queue(queue)) }
        Output.line(isNews ? "queue \(queue) is resumed" : "queue \(queue) was not paused")
    }
}
