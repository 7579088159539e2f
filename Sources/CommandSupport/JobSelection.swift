internal import ArgumentParser
internal import CameoModel
package import CameoStore

/// Options that select jobs by their properties instead of their ids.
package struct JobSelection: ParsableArguments {
    @Option(
        help: .value("state", "Only jobs in this state. Repeatable."),
        completion: .list(JobState.allCases.map(\.rawValue))
    )
    var state: [String] = []

    @Option(
        help: .value("code", "Only jobs whose last failure has this code, such as source.timeout. Repeatable."),
        completion: .list(JobFailure.Code.allCases.map(\.rawValue))
    )
    var code: [String] = []

    @Option(help: .value("name", "Only jobs in this queue."), completion: .queues)
    var queue: String?

    @Option(help: .value("label", "Only jobs in this batch."))
    var batch: String?

    @Option(help: .value("prefix", "Only jobs whose source starts with this: https://shop.example/."))
    var source: String?

    package init() {}

    /// Throws if the batch does not exist, which would otherwise look like an empty one.
    package func expectBatch(in store: any Store) async throws {
        if let batch { _ = try await store.batch(batch) }
    }

    package var isEmpty: Bool { state.isEmpty && code.isEmpty && queue == nil && batch == nil && source == nil }

    package func validate() throws {
        _ = try states()
        _ = try codes()
        // The empty prefix matches every source: a script's empty variable would select all jobs.
        guard source != "" else { throw ValidationError("--source: must not be empty") }
    }

    package func filter() throws -> JobFilter {
        var filter = JobFilter()
        (filter.states, filter.codes) = (try states(), try codes())
        (filter.queue, filter.batch, filter.sourcePrefix) = (queue, batch, source)
        return filter
    }

    private func states() throws -> [JobState] { try words(state, "--state") }

    private func codes() throws -> [JobFailure.Code] { try words(code, "--code") }

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
