internal import CameoModel
internal import Foundation

/// For how long what is finished stays in the store; nil: for ever.
package struct Retention: Hashable, Sendable {
    package var completed: Duration? = .seconds(7 * 86_400)
    package var cancelled: Duration? = .seconds(7 * 86_400)
    /// Longer, since somebody may want to know why, or try again.
    package var discarded: Duration? = .seconds(30 * 86_400)

    package init() {}

    /// Keeps every job.
    package static let forever: Retention = {
        var retention = Retention()
        (retention.completed, retention.cancelled, retention.discarded) = (nil, nil, nil)
        return retention
    }()

    /// Jobs of this state that ended before are no longer kept, in milliseconds since 1970; nil: all are kept.
    func limit(_ state: JobState, now: Int64) -> Int64? {
        let kept: Duration? =
            switch state {
            case .completed: completed
            case .cancelled: cancelled
            case .discarded: discarded
            case .scheduled, .available, .running, .retryable: nil
            }
        return kept.map { now - Int64($0.milliseconds) }
    }
}

/// What retention removed, or would.
package struct Pruned: Hashable, Codable, Sendable {
    package internal(set) var completed = 0
    package internal(set) var cancelled = 0
    package internal(set) var discarded = 0
    /// Bytes that nothing has named for an hour.
    package internal(set) var blobs = 0
    package internal(set) var blobBytes = 0

    package init() {}

    package var isEmpty: Bool { self == Pruned() }

    package var jobs: Int { completed + cancelled + discarded }

    mutating func note(_ state: JobState) {
        switch state {
        case .completed: completed += 1
        case .cancelled: cancelled += 1
        case .discarded: discarded += 1
        case .scheduled, .available, .running, .retryable: break
        }
    }

    package static func += (total: inout Pruned, step: Pruned) {
        total.completed += step.completed
        total.cancelled += step.cancelled
        total.discarded += step.discarded
        total.blobs += step.blobs
        total.blobBytes += step.blobBytes
    }
}
