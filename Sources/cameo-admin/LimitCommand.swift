internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CommandSupport

struct LimitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract: "Sets how many jobs of a concurrency key run at once, and start within a time, over all workers.",
        discussion: """
            What runs goes on; the next claim keeps to the new limit. A key's limit that is set here stands whatever requests \
            say (--concurrency-limit), until --max-running none gives it back to them. By a rate of 300/m 300 jobs may start at once, then \
            five a second; requests say nothing of rates. Without an option, lists the keys in use. A queue's limits are set \
            by `cameo-admin queue`.

            EXAMPLES
              cameo-admin limit --key example.com --max-running 8
              cameo-admin limit --key example.com --max-running none
              cameo-admin limit --key example.com --rate 10/s
              cameo-admin limit --key example.com --rate none
              cameo-admin limit

            EXIT CODES
              0 done, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(help: ArgumentHelp("The concurrency key.", valueName: "key"))
    var key: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Jobs that may run at once, 1 to 10000, or none for no limit of an operator's.",
            valueName: "number"
        )
    )
    var maxRunning: RunningLimit?

    @Option(parsing: .unconditional, help: RateLimit.help)
    var rate: RateLimit?

    @Flag(
        help: """
            Prints {\"key\":…,\"maxRunning\":…,\"running\":…,\"isFixed\":…}, with \"rate\":… if it has one, of the list \
            one a line.
            """
    )
    var json = false

    func validate() throws {
        guard let key else {
            guard maxRunning == nil, rate == nil else { throw ValidationError("of what? give --key") }
            return
        }
        guard maxRunning != nil || rate != nil else { throw ValidationError("give --max-running or --rate") }
        guard ThumbnailRequest.isName(key) else {
            throw ValidationError("--key: must be 1 to 200 characters without control characters, as in a request")
        }
        let range = ThumbnailRequest.concurrencyLimitRange
        if let limit = maxRunning?.limit, !range.contains(limit) {
            throw ValidationError(
                "--max-running \(limit): must be between \(range.lowerBound) and \(range.upperBound)"
            )
        }
    }

    func run() async throws {
        guard let key else { return try await list() }
        let store = try storeOptions.open(creating: false)
        var lines: [String] = []
        if let maxRunning {
            let isNews = try await store.limit(key: key, to: maxRunning.limit)
            let limit = maxRunning.limit.map { "at most \($0) at once" } ?? "without an operator's limit"
            lines.append(isNews ? "runs \(limit)" : "had no operator's limit")
        }
        if let rate {
            try await store.limit(key: key, toRate: rate.rate)
            lines.append(rate.rate.map { "starts at most \($0)" } ?? "starts without a rate")
        }
        guard !json else { return try Output.message(try await store.concurrencyLimit(of: key)) }
        for line in lines { Output.line("key \(TerminalText.escaped(key)) \(line)") }
    }

    private func list() async throws {
        for limit in try await storeOptions.openReading().concurrencyLimits() {
            if json {
                try Output.message(limit)
            } else {
                var text = "\(limit.running) of at most \(limit.maxRunning)"
                if limit.isFixed { text += ", set by an operator" }
                if let rate = limit.rate { text += ", starts at most \(rate)" }
                Output.line("\(TerminalText.escaped(limit.key))\t\(text)")
            }
        }
    }
}
