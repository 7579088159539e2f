/// How an operator stops a worker.
public enum WorkerStop: String, Codable, CaseIterable, Sendable {
    /// The worker claims nothing more and finishes its running jobs, however long that takes.
    case drain
    /// The worker releases its running jobs; their attempts are not counted.
    case now
}
