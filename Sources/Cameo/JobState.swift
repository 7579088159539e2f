internal import CameoModel

/// Where a job stands.
public enum JobState: String, CaseIterable, Sendable {
    /// Due at a later time.
    case scheduled
    /// Due now, waits for a worker.
    case available
    /// A worker has it.
    case running
    /// Failed, will be tried again.
    case retryable
    /// All its thumbnails are in the store.
    case completed
    /// Given up, with a named reason.
    case discarded
    /// Called off.
    case cancelled

    /// Whether a job leaves it only by being retried by hand.
    public var isFinal: Bool {
        switch self {
        case .scheduled, .available, .running, .retryable: false
        case .completed, .discarded, .cancelled: true
        }
    }

    init(_ model: CameoModel.JobState) {
        self =
            switch model {
            case .scheduled: .scheduled
            case .available: .available
            case .running: .running
            case .retryable: .retryable
            case .completed: .completed
            case .discarded: .discarded
            case .cancelled: .cancelled
            }
    }
}
