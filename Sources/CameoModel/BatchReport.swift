package import Foundation

/// How far the jobs of one batch are. JSON form: `proto-json/batch-report.schema.json`.
package struct BatchReport: Hashable, Codable, Sendable {
    /// How many discarded jobs have one reason.
    package struct Failures: Hashable, Codable, Sendable {
        package let code: JobFailure.Code
        package let count: Int

        package init(code: JobFailure.Code, count: Int) {
            self.code = code
            self.count = count
        }
    }

    package let generatedAt: Date
    package let name: String
    /// Jobs by state; a state without jobs is 0.
    package let jobs: [String: Int]
    package let total: Int
    /// Those that have ended, in whatever final state.
    package let finished: Int
    /// Of the discarded jobs, the most frequent reason first.
    package let failures: [Failures]
    package let finishedLastMinute: Int
    /// Seconds until the rest has ended, at the rate of the last minute; nil when nothing is left or nothing moves.
    package let secondsLeft: Double?

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
        self.jobs = Dictionary(uniqueKeysWithValues: JobState.allCases.map { ($0.rawValue, jobs[$0] ?? 0) })
        total = jobs.values.reduce(0, +)
        finished = jobs.filter(\.key.isFinal).values.reduce(0, +)
        self.failures = failures.sorted { ($1.count, $0.code.rawValue) < ($0.count, $1.code.rawValue) }
        self.finishedLastMinute = finishedLastMinute
        secondsLeft = finished < total && rate > 0 ? Double(total - finished) / rate : nil
    }

    package func count(_ state: JobState) -> Int { jobs[state.rawValue] ?? 0 }

    package var isFinished: Bool { finished == total }
}
