internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "List jobs and the reasons of their failures, newest first.",
        discussion: """
            EXAMPLES
              cameo-status jobs --state discarded
              cameo-status jobs --state discarded --code source.timeout --source https://shop.example/
              cameo-status jobs --batch holiday --limit 20 --before 4711 --json

            EXIT CODES
              0 done, 1 there is no such batch, 2 bad usage, 4 the store cannot be opened
            """
    )

    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup(title: "Selection Options") var selection: JobSelection

    @Option(help: ArgumentHelp("Only jobs before this one, the last of the previous page.", valueName: "id"))
    var before: Int64?

    @Option(parsing: .unconditional, help: ArgumentHelp("List at most this many jobs.", valueName: "number"))
    var limit = 50

    @Flag(help: "Print each job as JSON, one per line.")
    var json = false

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit \(limit): must be at least 1") }
    }

    func run() async throws {
        var filter = try selection.filter()
        (filter.before, filter.limit) = (before, limit)
        let store = try storeOptions.openReading()
        try await selection.expectBatch(in: store)
        let jobs = try await store.jobs(filter)
        for job in jobs {
            if json {
                try Output.message(job)
            } else {
                Output.line(JobText.line(job) { TerminalText.escaped($0, limit: 100) })
            }
        }
        if !json, Output.outputIsTerminal, jobs.count == limit, let last = jobs.last {
            Output.error("for the next page: --before \(last.id)")
        }
    }
}
