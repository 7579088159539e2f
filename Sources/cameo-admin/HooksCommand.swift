internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

struct HooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hooks",
        abstract: "Try deliveries to hooks again.",
        subcommands: [HookRetryCommand.self]
    )
}

struct HookRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Make failed deliveries wait again, and those that wait due at once.",
        discussion: """
            The receiver gets the same id as before. `cameo-status hooks` lists the failures.

            EXAMPLES
              cameo-admin hooks retry 9f86d081884c7d659a2feaa0c55ad015
              cameo-admin hooks retry --hook site
              cameo-admin hooks retry --all --json

            EXIT CODES
              0 done, 1 there is no such delivery to retry, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The ids of deliveries.")
    var id: [String] = []

    @Option(help: "All of this hook.".taking("name"))
    var hook: String?

    @Flag(help: "All of all hooks.")
    var all = false

    @Flag(help: "Print JSON: {\"retried\":…}.")
    var json = false

    func validate() throws {
        guard [!id.isEmpty, hook != nil, all].count(where: { $0 }) == 1 else {
            throw ValidationError("name deliveries by their ids, or give --hook or --all")
        }
    }

    func run() async throws {
        let store = try storeOptions.open(creating: false)
        let choice: DeliveryChoice = all ? .all : hook.map { .hook($0) } ?? .ids(id)
        let count = try await store.retryDeliveries(choice)
        let text = "\(count) \(count == 1 ? "delivery is" : "deliveries are") due again"
        try Output.answer(["retried": count], asJSON: json, [text])
        let missing = Set(id).count - count
        guard missing > 0 else { return }
        Output.error("cameo-admin: \(missing) of these deliveries do not wait and have not failed, or do not exist")
        throw ExitCode(ExitStatus.failed.rawValue)
    }
}
