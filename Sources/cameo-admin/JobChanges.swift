internal import ArgumentParser
internal import CameoModel
internal import CameoReport
internal import CameoStore
internal import CommandSupport

/// Which jobs of which store a command changes: those that are numbered, or all that a selection meets.
struct ChosenJobs: ParsableArguments {
    @OptionGroup var storeOptions: StoreOptions

    @Argument(help: "Numbers of jobs.")
    var id: [Int64] = []

    @OptionGroup(title: "Many At Once") var selection: JobSelection

    @Option(help: ArgumentHelp("At most so many, the oldest first.", valueName: "number"))
    var limit: Int?

    @Flag(help: "Counts the jobs and changes none.")
    var dryRun = false

    @Flag(
        help: """
            Prints each numbered job (JSON) as it then is, one a line; of many at once {"matched":…,"changed":…,"passed":…}, \
            where passed had gone on before their turn came.
            """
    )
    var json = false

    func validate() throws {
        guard id.isEmpty != selection.isEmpty else {
            throw ValidationError(
                "name jobs by their numbers, or many at once by --state, --code, --queue, --batch, --source"
            )
        }
        guard id.isEmpty || (limit == nil && !dryRun) else {
            throw ValidationError("--limit and --dry-run are for many jobs at once")
        }
        if let limit, limit < 1 { throw ValidationError("--limit \(limit): must be at least 1") }
    }
}

extension ChosenJobs {
    /// Changes the numbered jobs by `one`, which says what became of it, or together all that the selection meets.
    func change(by change: BulkChange, done: String, one: (any Store, Int64) async throws -> String) async throws {
        let store = try storeOptions.open(creating: false)
        guard !id.isEmpty else { return try await changeMany(in: store, by: change, done: done) }
        try await store.changeEach(id, answering: json ? .json : .text) { id in try await one(store, id) }
    }

    /// To meet none is no failure.
    private func changeMany(in store: any Store, by change: BulkChange, done: String) async throws {
        let chosen = try selection.filter()
        var filter: JobFilter
        do throws(BulkChange.Inapplicable) {
            filter = try change.meant(by: chosen)
        } catch {
            throw CommandFailure("--state \(error.state.rawValue): such jobs cannot be \(done)", .usage)
        }
        filter.limit = limit ?? .max
        guard !dryRun else {
            let progress = BulkProgress(matched: try await store.count(filter))
            return try tell(progress, "\(AmountText.count(progress.matched, "job")) would be \(done)")
        }
        var bar = ProgressBar()
        defer { bar.finish() }
        let progress = try await store.change(filter, by: change) { progress in
            let done = progress.changed + progress.passed
            bar.show(done: done, of: max(progress.matched, done))
        }
        let passed = progress.passed > 0 ? "; \(progress.passed) had gone on before their turn came" : ""
        try tell(
            progress,
            "\(AmountText.count(progress.changed, "job")) \(progress.changed == 1 ? "is" : "are") \(done)\(passed)"
        )
    }

    private func tell(_ progress: BulkProgress, _ text: String) throws {
        if json { try Output.message(progress) } else { Output.line(text) }
    }
}

/// How a command says what it did.
enum AnswerForm {
    case text, json
}

extension ReaderStore {
    /// Changes every job of a list of numbers, and fails at the end if one was not there. Each is answered for by what
    /// `change` says, or as the job that it then is.
    func changeEach(
        _ ids: [Int64],
        answering form: AnswerForm,
        _ change: (Int64) async throws -> String
    ) async throws {
        var missing = 0
        for id in ids {
            do {
                let text = try await change(id)
                switch form {
                case .text: Output.line(text)
                case .json: try Output.message(try await job(id))
                }
            } catch StoreError.noSuchJob {
                Output.error("cameo-admin: there is no job \(id)")
                missing += 1
            }
        }
        if missing > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }
}
