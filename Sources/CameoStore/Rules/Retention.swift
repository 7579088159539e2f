package import CameoModel
internal import Foundation

/// For how long what is finished stays in the store; nil: for ever.
package struct Retention: Hashable, Sendable {
    /// How exactly it is known when a thumbnail was read: a reading is written down when the last one that was is as old.
    package static let readingStep = Duration.seconds(3_600)
    /// Some steps: a reading that could not be noted (a busy store, a full disk) has to find the thumbnail once more.
    package static let shortestForThumbnails = readingStep * 4

    package var completed: Duration? = .seconds(7 * 86_400)
    package var cancelled: Duration? = .seconds(7 * 86_400)
    /// Longer, since somebody may want to know why, or try again.
    package var discarded: Duration? = .seconds(30 * 86_400)
    /// Since a thumbnail was last read or made, and up to a step longer.
    package var thumbnails: Duration?

    package init() {}

    /// Keeps every job and every thumbnail.
    package static let forever: Retention = {
        var retention = Retention()
        (retention.completed, retention.cancelled, retention.discarded) = (nil, nil, nil)
        return retention
    }()

    package static let states = [JobState.completed, .cancelled, .discarded]

    /// Changes from before are no longer kept; nil: all are.
    package func limitOfChanges(now: Int64) -> Int64? {
        let limits = Self.states.map { limit($0, now: now) }
        return limits.contains(nil) ? nil : limits.compactMap { $0 }.min()
    }

    /// Jobs of this state that ended before are no longer kept, in milliseconds since 1970; nil: all are kept.
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

    /// Thumbnails that are known to have been used before, and not since, are no longer kept; nil: all are.
    package func limitOfThumbnails(now: Int64) -> Int64? {
        thumbnails.map { now - Int64(($0 + Self.readingStep).milliseconds) }
    }
}
