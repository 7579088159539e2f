public import Foundation

/// The progress of one batch. JSON form: `proto-json/batch-report.schema.json`.
public struct BatchReport: Hashable, Codable, Sendable {
    /// The number of jobs discarded for one reason.
    public struct Failures: Hashable, Codable, Sendable {
        /// The reason.
        public let code: JobFailure.Code
        /// The number of jobs.
        public let count: Int

        package init(code: JobFailure.Code, count: Int) {
            self.code = code
            self.count = count
        }
    }

    /// When the report was taken.
    public let generatedAt: Date
    /// The batch's name, as given in its requests.
    public let name: String
    /// Jobs by state; a state without jobs is 0.
    public let jobs: [JobState: Int]
    /// Jobs of the batch that are still in the store.
    public let total: Int
    /// Jobs in any final state.
    public let finished: Int
    /// The reasons why jobs were discarded, the most frequent first.
    public let failures: [Failures]
    /// Jobs that ended within the last minute.
    public let finishedLastMinute: Int
    /// Estimated seconds until the remaining jobs have ended, at the rate of the last minute; nil when none remain or
    /// none ended.
    public let secondsLeft: Double?

    /// `rate` is the number of jobs of the batch that currently end per second.
    package init(
        name: String,
        generatedAt: Date,
        jobs: [JobState: Int],
        failures: [Failures],
        finishedLastMinute: Int,
        rate: Double
    ) {
        self.name = name
        self.generatedAt = generatedAt
        self.jobs = jobs.complete
        total = jobs.values.reduce(0, +)
        finished = jobs.filter(\.key.isFinal).values.reduce(0, +)
        self.failures = failures.sorted { ($1.count, $0.code.rawValue) < ($0.count, $1.code.rawValue) }
        self.finishedLastMinute = finishedLastMinute
        secondsLeft = finished < total && rate > 0 ? Double(total - finished) / rate : nil
    }

    /// The number of jobs in a state.
    public func count(_ state: JobState) -> Int { jobs[state] ?? 0 }

    /// Whether all jobs have ended.
    public var isFinished: Bool { finished == total }
}
