package import CameoModel
package import Foundation

/// The numbers of states in the tables, and what the end of an attempt makes of its job.
extension JobState {
    /// The final states, in the order of the columns that count how often jobs have ended.
    package static let ends: [JobState] = [.completed, .discarded, .cancelled]

    /// The state's value in the tables.
    package var code: Int {
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

    package init(code: Int) throws {
        guard let state = Self.allCases.first(where: { $0.code == code }) else {
            throw StoreError.failed("unknown job state \(code)")
        }
        self = state
    }

    package init(stored text: String) throws {
        guard let state = JobState(rawValue: text) else { throw StoreError.failed("unknown job state \"\(text)\"") }
        self = state
    }
}

extension Refresh {
    /// The value in the tables: the higher, the more thorough.
    package var code: Int {
        switch self {
        case .never: 0
        case .ifChanged: 1
        case .always: 2
        }
    }

    package init(code: Int) {
        self = Self.allCases.first { $0.code == code } ?? .ifChanged
    }
}

extension JobFailure {
    package var stored: String {
        get throws { String(decoding: try WireFormat.encode(self), as: UTF8.self) }
    }

    package static func from(stored text: String?) throws -> JobFailure? {
        guard let text else { return nil }
        return try WireFormat.decode(JobFailure.self, from: Data(text.utf8))
    }
}

/// How a job ends.
package struct End: Hashable, Sendable {
    package let state: JobState
    package let failure: JobFailure?
    package let supersededBy: Int64?

    package init(_ state: JobState, failure: JobFailure? = nil, supersededBy: Int64? = nil) {
        (self.state, self.failure, self.supersededBy) = (state, failure, supersededBy)
    }
}

/// The ways in which an attempt ends.
package enum AttemptEnd: Sendable {
    /// The thumbnails are stored and the job is completed, atomically (invariant I2).
    case complete(JobProduct)
    /// The job is retried at a time.
    case retry(JobFailure, at: Date)
    case discard(JobFailure)
    /// The job is released; the attempt is not counted.
    case release
    /// The job waits for a place at its host as if it had not been claimed; the attempt is neither counted nor recorded.
    case postpone(until: Date)
    /// The host cannot do it. The job waits for another worker as if it had not been claimed, or is discarded with the
    /// failure of `unable`, and the hosts' names, if every live worker that takes jobs of its queue lacks the same.
    case leave(HostUnable, until: Date)

    /// The time until which the job waits; nil if it does not, or for no fixed time.
    package var time: Date? {
        switch self {
        case .retry(_, let time), .postpone(let time), .leave(_, let time): time
        case .complete, .discard, .release: nil
        }
    }
}
