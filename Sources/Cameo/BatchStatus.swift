internal import CameoModel

/// How far the jobs of one batch are.
public struct BatchStatus: Hashable, Sendable {
    /// The batch, as its requests name it.
    public let name: String
    /// Jobs in each state; a state without jobs is left out.
    public let jobs: [JobState: Int]
    /// Jobs of the batch that the store still has.
    public let total: Int
    /// Those that have ended, in whatever final state.
    public let finished: Int
    /// How many jobs were discarded, by the code of their failure.
    public let failures: [String: Int]
    /// Until the rest has ended, at the rate of the last minute; nil when nothing is left or nothing moves.
    public let timeLeft: Duration?

    /// Whether all its jobs have ended.
    public var isFinished: Bool { finished == total }

    init(_ report: BatchReport) {
        name = report.name
        let states = CameoModel.JobState.allCases.map { (JobState($0), report.count($0)) }
        jobs = Dictionary(uniqueKeysWithValues: states.filter { $0.1 > 0 })
        (total, finished) = (report.total, report.finished)
        failures = Dictionary(uniqueKeysWithValues: report.failures.map { ($0.code.rawValue, $0.count) })
        timeLeft = report.secondsLeft.map { .seconds($0) }
    }
}
