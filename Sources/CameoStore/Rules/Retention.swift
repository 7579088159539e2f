package import CameoModel
internal import Foundation

/// How long finished jobs and thumbnails are kept; nil: for ever.
package struct Retention: Hashable, Sendable {
    /// The resolution of read times: a read is recorded only if the last recorded one is at least this old.
    package static let readingStep = Duration.seconds(3_600)
    /// The shortest retention of thumbnails. It spans several steps, so that a thumbnail survives a read that could not
    /// be recorded (busy store, full disk) until the next one.
    package static let shortestForThumbnails = readingStep * 4

    package var completed: Duration? = .seconds(7 * 86_400)
    package var cancelled: Duration? = .seconds(7 * 86_400)
    /// Longer than the others, so that somebody can investigate or retry.
    package var discarded: Duration? = .seconds(30 * 86_400)
    /// Counted from when a thumbnail was last read or made; it may be kept up to a step longer.
    package var thumbnails: Duration?

    package init() {}

    /// Keeps every job and every thumbnail.
    package static let forever: Retention = {
        var retention = Retention()
        (retention.completed, retention.cancelled, retention.discarded) = (nil, nil, nil)
        return retention
    }()

    package static let states = [JobState.completed, .cancelled, .discarded]

    /// Changes before this time have expired, in milliseconds since 1970; nil: none have.
    package func limitOfChanges(now: Int64) -> Int64? {
        let limits = Self.states.map { limit($0, now: now) }
        return limits.contains(nil) ? nil : limits.compactMap { $0 }.min()
    }

    /// Jobs in this state that ended before this time have expired, in milliseconds since 1970; nil: none have.
    package func limit(_ state: JobState, now: Int64) -> Int64? {
        let kept: Duration? =
            switch state {
            case .completed: completed
            case .cancelled: cancelled
            case .discarded: discarded
            case .scheduled, .available, .running, .retryable: nil
            }
        return kept.map { now - Int64($0.milliseconds) }
    }

    /// Thumbnails last used before this time have expired, in milliseconds since 1970; nil: none have.
    package func limitOfThumbnails(now: Int64) -> Int64? {
        thumbnails.map { now - Int64(($0 + Self.readingStep).milliseconds) }
    }
}
