internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

struct JobCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "job",
        abstract: "Everything about one job: its state, its failure, its thumbnails, each attempt.",
        discussion: "Exit 1 if the job was discarded or cancelled, or is not there."
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The job's number.")
    var id: Int64

    @Flag(help: "Waits until the job has ended.")
    var wait = false

    @Option(help: ArgumentHelp("With --wait: for at most so many seconds, then exit 3.", valueName: "seconds"))
    var timeout: Double?

    @Flag(help: "Prints a job (JSON).")
    var json = false

    func validate() throws {
        guard timeout == nil || wait else { throw ValidationError("--timeout needs --wait") }
        try JobWait.validate(timeout: timeout, "--timeout")
    }

    func run() async throws {
        let store = try Store(reading: storeOptions.path)
        _ = try await store.job(id)
        if wait {
            _ = try await JobWait(store: store, timeout: timeout.map { .seconds($0) }).untilFinished([id])
        }
        let job = try await store.job(id)
        if json {
            try Output.message(job)
        } else {
            Output.lines(JobText.lines(job, escape: TerminalText.escaped))
        }
        if job.state == .discarded || job.state == .cancelled { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}

struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Lists jobs, newest first."
    )

    @OptionGroup var storeOptions: StoreOptions

    @Option(help: ArgumentHelp("Only jobs in this state. Repeatable.", valueName: "state"))
    var state: [String] = []

    @Option(help: ArgumentHelp("Only jobs of this queue.", valueName: "name"))
    var queue: String?

    @Option(help: ArgumentHelp("Only jobs of this batch.", valueName: "label"))
    var batch: String?

    @Option(help: ArgumentHelp("Only jobs before this one: the last of the page before.", valueName: "id"))
    var before: Int64?

    @Option(help: ArgumentHelp("At most so many.", valueName: "number"))
    var limit = 50

    @Flag(help: "Prints one job (JSON) a line.")
    var json = false

    func run() async throws {
        var filter = JobFilter()
        filter.states = try state.map { word in
            guard let state = JobState(rawValue: word) else {
                let words = JobState.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure("--state \(word): must be one of \(words)", .usage)
            }
            return state
        }
        guard limit > 0 else { throw CommandFailure("--limit \(limit): must be at least 1", .usage) }
        (filter.queue, filter.batch, filter.before, filter.limit) = (queue, batch, before, limit)
        for job in try await Store(reading: storeOptions.path).jobs(filter) {
            if json {
                try Output.message(job)
            } else {
                Output.line(JobText.line(job) { TerminalText.escaped($0, limit: 100) })
            }
        }
    }
}
