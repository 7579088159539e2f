/// Where a job stands. The words are those of River and Oban.
public enum JobState: String, Codable, CodingKeyRepresentable, CaseIterable, Sendable {
    /// Due at a later time that its producer chose.
    case scheduled
    /// Due now, waits for a worker.
    case available
    /// A worker holds its claim token.
    case running
    /// Failed, will be tried again after its back-off; or put off for a while because its host is busy.
    case retryable
    /// All its thumbnails are in the store.
    case completed
    /// Given up, with a named reason.
    case discarded
    /// Called off.
    case cancelled

    /// True for states that a job leaves only by being retried by hand.
    public var isFinal: Bool {
        switch self {
        case .scheduled, .available, .running, .retryable: false
        case .completed, .discarded, .cancelled: true
        }
    }
}

extension [JobState: Int] {
    /// With 0 for each state that is not there.
    var complete: Self { merging(JobState.allCases.map { ($0, 0) }) { count, _ in count } }
}
