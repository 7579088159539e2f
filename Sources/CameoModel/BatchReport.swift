public import Foundation

/// How far the jobs of one batch are. JSON form: `proto-json/batch-report.schema.json`.
public struct BatchReport: Hashable, Codable, Sendable {
    /// How many discarded jobs have one reason.
    public struct Failures: Hashable, Codable, Sendable {
        /// The reason.
        public let code: JobFailure.Code
        /// Of the jobs.
        public let count: Int

        package init(code: JobFailure.Code, count: Int) {
            self.code = code
            self.count = count
        }
    }

    /// The moment that the report is about.
    public let generatedAt: Date
    /// The batch, as its requests name it.
    public let name: String
    /// Jobs by state; a state without jobs is 0.
    public let jobs: [JobState: Int]
    /// Jobs of the batch that the store still has.
    public let total: Int
    /// Those that have ended, in whatever final state.
    public let finished: Int
    /// Of the discarded jobs, the most frequent reason first.
    public let failures: [Failures]
    /// Those of them that have ended lately.
    public let finishedLastMinute: Int
    /// Seconds until the rest has ended, at the rate of the last minute; nil when nothing is left or nothing moves.
    public let secondsLeft: Double?

    /// The `rate` is how many jobs of the batch end in a second, lately.
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

    /// How many of its jobs are in this state.
    public func count(_ state: JobState) -> Int { jobs[state] ?? 0 }

    /// Whether all its jobs have ended.
    public var isFinished: Bool { finished == total }
}
