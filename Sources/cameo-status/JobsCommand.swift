internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Lists jobs with the reasons of their failures, newest first.",
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
    @OptionGroup(title: "Which Jobs") var selection: JobSelection

    @Option(help: ArgumentHelp("Only jobs before this one: the last of the page before.", valueName: "id"))
    var before: Int64?

    @Option(parsing: .unconditional, help: ArgumentHelp("At most so many.", valueName: "number"))
    var limit = 50

    @Flag(help: "Prints one job (JSON) a line.")
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
