internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "List jobs and the reasons of their failures, newest first.",
        discussion: """
            The age of a job is the time since it was enqueued, its size that of its thumbnails. On a terminal, long \
            reasons and sources are cut. The CSV (RFC 4180) has them as they are, with a header line.

            EXAMPLES
              cameo-status jobs --state discarded
              cameo-status jobs --state discarded --code source.timeout --source https://shop.example/
              cameo-status jobs --batch holiday --limit 20 --before 4711 --json
              cameo-status jobs --state discarded --limit 10000 --csv > discarded.csv

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

    @Flag(help: "Print CSV.")
    var csv = false

    func validate() throws {
        guard !json || !csv else { throw ValidationError("--csv: not with --json") }
        guard limit > 0 else { throw ValidationError("--limit \(limit): must be at least 1") }
    }

    func run() async throws {
        var filter = try selection.filter()
        (filter.before, filter.limit) = (before, limit)
        let store = try storeOptions.openReading()
        try await selection.expectBatch(in: store)
        let jobs = try await store.jobs(filter)
        if json {
            for job in jobs { try Output.message(job.withoutSecrets) }
        } else if csv {
            let text = JobList(jobs).csv(escape: Output.outputIsTerminal ? TerminalText.escaped : { $0 })
            Output.bytes(Data(text.utf8))
        } else {
            Output.lines(
                JobList(jobs).lines(
                    at: store.clock.now(),
                    columns: OutputTerminal.current?.columns,
                    style: OutputTerminal.style,
                    escape: TerminalText.escaped(_:limit:)
                )
            )
        }
        if !json, !csv, Output.outputIsTerminal, jobs.count == limit, let last = jobs.last {
            Output.error("for the next page: --before \(last.id)")
        }
    }
}
