internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct LimitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit",
        abstract:
            "Limit how many jobs of a concurrency key run at once or start within a time, or set the weight of a tenant.",
        discussion: """
            Running jobs go on; the next claim applies the new limit. --max-running overrides the --concurrency-limit \
            of requests until it is set to none. A rate of 300/m lets 300 jobs start at once, then five per second; \
            requests cannot set rates. In a fair queue (`cameo-admin queue --fair`), a tenant of weight 3 gets three times as \
            much as others. Without options, the command lists the keys and tenants in use. `cameo-admin queue` limits queues.

            EXAMPLES
              cameo-admin limit --key example.com --max-running 8
              cameo-admin limit --key example.com --max-running none
              cameo-admin limit --key example.com --rate 10/s
              cameo-admin limit --key example.com --rate none
              cameo-admin limit --tenant acme --weight 3
              cameo-admin limit

            EXIT CODES
              0 done, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(help: "The concurrency key.".taking("key"))
    var key: String?

    @Option(
        parsing: .unconditional,
        help: "Jobs that may run at once, 1 to 10000, or none to remove this limit.".taking("number")
    )
    var maxRunning: Limit<Int>?

    @Option(parsing: .unconditional, help: Limit<StartRate>.help)
    var rate: Limit<StartRate>?

    @Option(help: "The tenant: what requests name, or else their concurrency key.".taking("tenant"))
    var tenant: String?

    @Option(
        parsing: .unconditional,
        help: "How much the tenant gets in fair queues, beside one of weight 1: 0.01 to 100.".taking("number")
    )
    var weight: Double?

    @Flag(
        help: """
            Print JSON: {\"key\":…,\"maxRunning\":…,\"running\":…,\"waiting\":…,\"isFixed\":…}, with \"rate\":… if \
            there is one; a tenant as in a status-report. The list has one per line.
            """
    )
    var json = false

    func validate() throws {
        try validateTenant()
        guard let key else {
            guard maxRunning == nil, rate == nil else { throw ValidationError("--max-running and --rate need --key") }
            return
        }
        guard maxRunning != nil || rate != nil else { throw ValidationError("--key needs --max-running or --rate") }
        guard ThumbnailRequest.isName(key) else {
            throw ValidationError("--key: must be 1 to 200 characters without control characters, as in a request")
        }
        let range = ThumbnailRequest.concurrencyLimitRange
        if let limit = maxRunning?.value, !range.contains(limit) {
            throw ValidationError(
                "--max-running \(limit): must be between \(range.lowerBound) and \(range.upperBound)"
            )
        }
    }

    private func validateTenant() throws {
        guard (tenant == nil) == (weight == nil) else { throw ValidationError("--tenant and --weight need each other") }
        guard let tenant, let weight else { return }
        guard key == nil else { throw ValidationError("--tenant and --key cannot be set together") }
        guard ThumbnailRequest.isName(tenant) else {
            throw ValidationError("--tenant: must be 1 to 200 characters without control characters, as in a request")
        }
        guard StatusReport.Tenant.weights.contains(weight) else {
            throw ValidationError("--weight \(TenantText.number(weight)): must be between 0.01 and 100")
        }
    }

    func run() async throws {
        if let tenant, let weight { return try await set(weight, of: tenant) }
        guard let key else { return try await list() }
        let store = try storeOptions.open(creating: false)
        var lines: [String] = []
        if let maxRunning {
            let hasChanged = try await store.limit(key: key, to: maxRunning.value)
            let limit = maxRunning.value.map { "at most \($0) at once" } ?? "without an operator's limit"
            lines.append(hasChanged ? "runs \(limit)" : "had no operator's limit")
        }
        if let rate {
            try await store.limit(key: key, toRate: rate.value)
            lines.append(rate.value.map { "starts at most \($0)" } ?? "starts without a rate")
        }
        guard !json else { return try Output.message(try await store.concurrencyLimit(of: key)) }
        for line in lines { Output.line("key \(TerminalText.escaped(key)) \(line)") }
    }

    private func set(_ weight: Double, of tenant: String) async throws {
        try await storeOptions.open(creating: false).setWeight(weight, ofTenant: tenant)
        try Output.answer(
            JSONValue.object(["tenant": .string(tenant), "weight": .number(weight)]),
            asJSON: json,
            ["tenant \(TerminalText.escaped(tenant)) has weight \(TenantText.number(weight))"]
        )
    }

    private func list() async throws {
        let store = try storeOptions.openReading()
        let limits = try await store.concurrencyLimits()
        // In a queue that is not fair, a tenant that is a key has nothing but what its key has.
        let keys = Set(limits.map(\.key))
        let fair = Set(try await store.queues().filter { $0.fair == true }.map(\.name))
        for tenant in try await store.tenants(.all).tenants
        where fair.contains(tenant.queue) || !keys.contains(tenant.tenant) {
            let text = "\(TerminalText.escaped(tenant.tenant))\t\(TenantText.line(tenant))"
            try Output.answer(tenant, asJSON: json, ["tenant \(text)"])
        }
        for limit in limits {
            var text = "\(limit.waiting) waiting, \(limit.running) of at most \(limit.maxRunning)"
            if limit.isFixed { text += ", set by an operator" }
            if let rate = limit.rate { text += ", starts at most \(rate)" }
            try Output.answer(limit, asJSON: json, ["key \(TerminalText.escaped(limit.key))\t\(text)"])
        }
    }
}

/// A limit, or `none` to remove it.
struct Limit<Value: LosslessStringConvertible>: ExpressibleByArgument {
    /// Nil for none.
    let value: Value?

    init?(argument: String) {
        value = Value(argument)
        guard argument == "none" || value != nil else { return nil }
    }
}

extension StartRate: LosslessStringConvertible {}

extension Limit<StartRate> {
    static let help = "Jobs that may start within a time (10/s, 300/m, 5/30s), or none for no limit.".taking("rate")
}

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
