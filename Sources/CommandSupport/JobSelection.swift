internal import ArgumentParser
internal import CameoModel
package import CameoStore

/// Options that select jobs by their properties instead of their ids.
package struct JobSelection: ParsableArguments {
    @Option(
        help: "Only jobs in this state. Repeatable.".taking("state"),
        completion: .list(JobState.allCases.map(\.rawValue))
    )
    var state: [String] = []

    @Option(
        help: "Only jobs whose last failure has this code, such as source.timeout. Repeatable.".taking("code"),
        completion: .list(JobFailure.Code.allCases.map(\.rawValue))
    )
    var code: [String] = []

    @Option(help: "Only jobs in this queue.".taking("name"), completion: .queues)
    var queue: String?

    @Option(help: "Only jobs in this batch.".taking("label"))
    var batch: String?

    @Option(help: "Only jobs whose request has this label.".taking("label"))
    var label: String?

    @Option(help: "Only jobs with this concurrency key.".taking("key"))
    var concurrencyKey: String?

    @Option(help: "Only jobs of this tenant.".taking("name"))
    var tenant: String?

    @Option(help: "Only jobs whose source starts with this: https://shop.example/.".taking("prefix"))
    var source: String?

    package init() {}

    /// Throws if the batch does not exist, which would otherwise look like an empty one.
    package func expectBatch(in store: any ReaderStore) async throws {
        if let batch { _ = try await store.batch(batch) }
    }

    package var isEmpty: Bool { (try? filter()) == JobFilter() }

    package func validate() throws {
        _ = try filter()
        // The empty prefix matches every source: a script's empty variable would select all jobs.
        guard source != "" else { throw ValidationError("--source: must not be empty") }
    }

    package func filter() throws -> JobFilter {
        var filter = JobFilter()
        filter.states = try words(state, "--state")
        filter.codes = try words(code, "--code")
        (filter.queue, filter.batch, filter.sourcePrefix) = (queue, batch, source.map(SourceArgument.prefix))
        (filter.label, filter.concurrencyKey, filter.tenant) = (label, concurrencyKey, tenant)
        return filter
    }

    private func words<Word: RawRepresentable<String> & CaseIterable>(
        _ texts: [String],
        _ option: String
    ) throws -> [Word] {
        try texts.map { text in
            guard let word = Word(rawValue: text) else {
                throw ValidationError("\(option) \(text): must be one of \(Word.allWords)")
            }
            return word
        }
    }
}
