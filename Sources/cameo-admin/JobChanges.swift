internal import ArgumentParser
internal import CameoModel
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

    @Flag(help: "Prints {\"matched\":…,\"changed\":…,\"passed\":…}; passed: they had gone on before their turn came.")
    var json = false

    func validate() throws {
        guard id.isEmpty != selection.isEmpty else {
            throw ValidationError(
                "name jobs by their numbers, or many at once by --state, --code, --queue, --batch, --source"
            )
        }
        guard id.isEmpty || (limit == nil && !dryRun && !json) else {
            throw ValidationError("--limit, --dry-run and --json are for many jobs at once")
        }
        if let limit, limit < 1 { throw ValidationError("--limit \(limit): must be at least 1") }
    }
}

/// What a change of many jobs did.
private struct BulkResult: Encodable {
    let matched: Int
    let changed: Int
    let passed: Int
}

/// Changes every job of a list of numbers, and fails at the end if one was not there.
func changeEach(_ ids: [Int64], _ change: (Int64) async throws -> String) async throws {
    var missing = 0
    for id in ids {
        do {
            Output.line(try await change(id))
        } catch StoreError.noSuchJob {
            Output.error("cameo-admin: there is no job \(id)")
            missing += 1
        }
    }
    if missing > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
}

extension ChosenJobs {
    /// Changes the numbered jobs by `one`, which says what became of it, or together all that the selection meets.
    func change(by change: BulkChange, done: String, one: (Store, Int64) async throws -> String) async throws {
        let store = try Store(at: storeOptions.path, creating: false)
        guard !id.isEmpty else { return try await changeMany(in: store, by: change, done: done) }
        try await changeEach(id) { id in try await one(store, id) }
    }

    /// To meet none is no failure.
    private func changeMany(in store: Store, by change: BulkChange, done: String) async throws {
        var filter = try selection.filter()
        if filter.states.isEmpty { filter.states = change.usualStates }
        if let state = filter.states.first(where: { !change.applies(to: $0) }) {
            throw CommandFailure("--state \(state.rawValue): such jobs cannot be \(done)", .usage)
        }
        filter.limit = limit ?? .max
        let matched = try await store.count(filter)
        guard !dryRun else {
            return try tell(BulkResult(matched: matched, changed: 0, passed: 0), "\(matched) jobs would be \(done)")
        }
        var bar = ProgressBar()
        defer { bar.finish() }
        let progress = try await store.change(filter, by: change) { progress in
            bar.show(done: progress.changed + progress.passed, of: max(matched, progress.changed + progress.passed))
        }
        let passed = progress.passed > 0 ? "; \(progress.passed) had gone on before their turn came" : ""
        try tell(
            BulkResult(matched: matched, changed: progress.changed, passed: progress.passed),
            "\(progress.changed) jobs are \(done)\(passed)"
        )
    }

    private func tell(_ result: BulkResult, _ text: String) throws {
        if json { try Output.message(result) } else { Output.line(text) }
    }
}
