internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport
internal import Foundation

/// The jobs that a command changes: those with given ids, or all that a selection matches.
struct ChosenJobs: ParsableArguments {
    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The ids of jobs.")
    var id: [Int64] = []

    @OptionGroup(title: "Selection Options") var selection: JobSelection

    @Option(help: "Change at most this many jobs, the oldest first.".taking("number"))
    var limit: Int?

    @Flag(help: "Count the jobs without changing any.")
    var dryRun = false

    @Flag(
        help: """
            Print JSON: for ids each job after the change, one per line; for a selection \
            {"matched":…,"changed":…,"passed":…}, where passed counts jobs that changed by themselves before their \
            turn.
            """
    )
    var json = false

    func validate() throws {
        guard id.isEmpty != selection.isEmpty else {
            let options = "--state, --code, --queue, --batch, --label, --concurrency-key, --tenant or --source"
            throw ValidationError("name jobs by their ids, or select them by \(options)")
        }
        guard id.isEmpty || (limit == nil && !dryRun) else {
            throw ValidationError("--limit and --dry-run need a selection, not ids")
        }
        if let limit, limit < 1 { throw ValidationError("--limit \(limit): must be at least 1") }
    }

    /// Changes each job by its id with `one`, which returns the message, or all jobs of the selection together.
    func change(by change: BulkChange, done: String, one: (any Store, Int64) async throws -> String) async throws {
        let store = try storeOptions.open(creating: false)
        guard !id.isEmpty else { return try await changeMany(in: store, by: change, done: done) }
        try await store.changeEach(id, asJSON: json) { id in try await one(store, id) }
    }

    /// Changes all jobs of the selection. Matching none is no failure.
    private func changeMany(in store: any OperatorStore & ReaderStore, by change: BulkChange, done: String) async throws
    {
        let chosen = try selection.filter()
        var filter = try Result { () throws(BulkChange.Inapplicable) in try change.meant(by: chosen) }
            .mapError { CommandFailure("--state \($0.state.rawValue): such jobs cannot be \(done)", .usage) }.get()
        filter.limit = limit ?? .max
        guard !dryRun else {
            let progress = BulkProgress(matched: try await store.count(filter))
            let text = "\(AmountText.count(progress.matched, "job")) would be \(done)"
            return try Output.answer(progress, asJSON: json, [text])
        }
        let bar = ProgressBar()
        defer { bar.finish() }
        let progress = try await store.change(filter, by: change) { progress in
            let done = progress.changed + progress.passed
            bar.show(done: done, of: max(progress.matched, done))
        }
        let passed = progress.passed > 0 ? "; \(progress.passed) changed by themselves before their turn" : ""
        let jobs = "\(AmountText.count(progress.changed, "job")) \(progress.changed == 1 ? "is" : "are")"
        try Output.answer(progress, asJSON: json, ["\(jobs) \(done)\(passed)"])
    }
}

extension ReaderStore {
    /// Changes every job of a list of ids, and fails at the end if one does not exist. Prints what `change` returns, or
    /// the job after the change.
    func changeEach(_ ids: [Int64], asJSON: Bool, _ change: (Int64) async throws -> String) async throws {
        var missing = 0
        for id in ids {
            do {
                let text = try await change(id)
                if asJSON { try Output.message(try await job(id)) } else { Output.line(text) }
            } catch StoreError.noSuchJob {
                Output.error("cameo-admin: there is no job \(id)")
                missing += 1
            }
        }
        if missing > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}

struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Make jobs available again, with all their attempts.",
        discussion: """
            Earlier attempts stay in the history (`cameo-status job ID`). A selection matches discarded jobs only, \
            unless --state says otherwise, and is changed in small transactions that do not block others.

            EXAMPLES
              cameo-admin retry 17 18
              cameo-admin retry --state discarded --code source.timeout
              cameo-admin retry --code source.httpStatus --source https://shop.example/ --limit 1000 --dry-run

            EXIT CODES
              0 done, 1 a job does not exist, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var jobs: ChosenJobs

    func run() async throws {
        try await jobs.change(by: .retry, done: "available again") { store, id in
            let (before, duplicate) = try await store.retry(id)
            if let duplicate {
                return "job \(id) was \(before.rawValue), is cancelled: job \(duplicate) waits for the same thumbnails"
            }
            return BulkChange.retry.applies(to: before)
                ? "job \(id) was \(before.rawValue), is available" : "job \(id) is already \(before.rawValue)"
        }
    }
}

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel jobs. A running job is stopped and leaves no thumbnails.",
        discussion: """
            A selection matches all unfinished jobs, unless --state says otherwise, and is changed in small \
            transactions that do not block others.

            EXAMPLES
              cameo-admin cancel 19
              cameo-admin cancel --batch holiday
              cameo-admin cancel --state retryable --code source.unreachable --dry-run

            EXIT CODES
              0 done, 1 a job does not exist, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var jobs: ChosenJobs

    func run() async throws {
        try await jobs.change(by: .cancel, done: "cancelled") { store, id in
            let before = try await store.cancel(id)
            return before.isFinal ? "job \(id) had already ended: \(before.rawValue)" : "job \(id) is cancelled"
        }
    }
}

struct SnoozeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snooze",
        abstract: "Delay waiting jobs.",
        discussion: """
            Jobs that run or have ended are left alone. A new request for the same thumbnails ends the delay. \
            \(Duration.explanation)

            EXAMPLES
              cameo-admin snooze 17 18 --for 10m
              cameo-admin snooze 17 --for 2030-01-31T12:00:00Z --json

            EXIT CODES
              0 done, 1 a job does not exist, 2 bad usage, 4 the store cannot be opened or written
            """
    )

    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "The ids of jobs.")
    var id: [Int64]

    @Option(
        name: .customLong("for"),
        parsing: .unconditional,
        help: """
            Delay by this time from now (10m, 2h, 1d; at most 36500d), or until this time (2030-01-31T12:00:00Z).
            """.taking("time")
    )
    var time: TimeArgument

    @Flag(help: "Print each job after the change as JSON, one per line.")
    var json = false

    func run() async throws {
        let store = try storeOptions.open(creating: false)
        try await store.changeEach(id, asJSON: json) { id in
            let before = try await store.snooze(id, until: time.date)
            return before.isFinal || before == .running
                ? "job \(id) is \(before.rawValue): only a waiting job can be snoozed"
                : "job \(id) was \(before.rawValue), is scheduled for \(WireFormat.text(of: time.date))"
        }
    }
}
