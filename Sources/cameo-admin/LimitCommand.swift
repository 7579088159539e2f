internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

struct LimitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract: "Sets how many jobs of a concurrency key run at once over all workers.",
        discussion: """
            What runs goes on; the next claim keeps to the new limit. A key's limit that is set here stands whatever requests \
            say (--concurrency-limit), until --none gives it back to them. Without an option, lists the keys in use. A queue's \
            limit is set by `cameo-admin queue`.

            EXAMPLES
              cameo-admin limit --key example.com --max-running 8
              cameo-admin limit --key example.com --none
              cameo-admin limit

            EXIT CODES
              0 done, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(help: ArgumentHelp("The concurrency key.", valueName: "key"))
    var key: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("Jobs that may run at once, 1 to 10000.", valueName: "number"))
    var maxRunning: Int?

    @Flag(help: "No limit of an operator's any more.")
    var none = false

    @Flag(help: "Prints {\"key\":…,\"maxRunning\":…,\"running\":…,\"isFixed\":…}, of the list one a line.")
    var json = false

    func validate() throws {
        guard let key else {
            guard maxRunning == nil, !none else { throw ValidationError("of what? give --key") }
            return
        }
        guard (maxRunning == nil) == none else { throw ValidationError("give --max-running or --none") }
        guard ThumbnailRequest.isName(key) else {
            throw ValidationError("--key: must be 1 to 200 characters without control characters, as in a request")
        }
        let range = ThumbnailRequest.concurrencyLimitRange
        if let maxRunning, !range.contains(maxRunning) {
            throw ValidationError(
                "--max-running \(maxRunning): must be between \(range.lowerBound) and \(range.upperBound)"
            )
        }
    }

    func run() async throws {
        guard let key else { return try await list() }
        let store = try storeOptions.open(creating: false)
        let isNews = try await store.limit(key: key, to: maxRunning)
        guard !json else { return try Output.message(try await store.concurrencyLimit(of: key)) }
        let limit = maxRunning.map { "at most \($0) at once" } ?? "without an operator's limit"
        let name = TerminalText.escaped(key)
        Output.line(isNews ? "key \(name) runs \(limit)" : "key \(name) had no operator's limit")
    }

    private func list() async throws {
        for limit in try await storeOptions.openReading().concurrencyLimits() {
            if json {
                try Output.message(limit)
            } else {
                let fixed = limit.isFixed ? ", set by an operator" : ""
                Output.line(
                    "\(TerminalText.escaped(limit.key))\t\(limit.running) of at most \(limit.maxRunning)\(fixed)"
                )
            }
        }
    }
}
