/// The state of a job, in the terms of River and Oban.
public enum JobState: String, Codable, CodingKeyRepresentable, CaseIterable, Sendable {
    /// Due at a later time that the producer chose.
    case scheduled
    /// Due now and waiting for a worker.
    case available
    /// A worker holds its claim token.
    case running
    /// Failed and due again after its back-off, or postponed because the source's host is busy.
    case retryable
    /// All its thumbnails are in the store.
    case completed
    /// Failed for good, with a named reason.
    case discarded
    /// Cancelled before completion.
    case cancelled

    /// Whether a job leaves this state only by a manual retry.
    public var isFinal: Bool {
        switch self {
        case .scheduled, .available, .running, .retryable: false
        case .completed, .discarded, .cancelled: true
        }
    }
}

extension [JobState: Int] {
    /// The counts, with 0 for each missing state.
    var complete: Self { merging(JobState.allCases.map { ($0, 0) }) { count, _ in count } }
}
