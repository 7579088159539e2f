internal import CameoModel

extension JobState {
    /// The column's value in every table of the queue.
    var code: Int {
        switch self {
        case .scheduled: 0
        case .available: 1
        case .running: 2
        case .retryable: 3
        case .completed: 4
        case .discarded: 5
        case .cancelled: 6
        }
    }

    init(code: Int) throws {
        guard let state = Self.allCases.first(where: { $0.code == code }) else {
            throw StoreError.failed("unknown job state \(code)")
        }
        self = state
    }
}

extension Refresh {
    /// The column's value: the higher, the more thorough.
    var code: Int {
        switch self {
        case .never: 0
        case .ifChanged: 1
        case .always: 2
        }
    }

    init(code: Int) {
        self = Self.allCases.first { $0.code == code } ?? .ifChanged
    }
}
