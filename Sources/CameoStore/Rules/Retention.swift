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

    /// Jobs in this state that ended before this time have expired, in milliseconds since 1970; nil: none have.
    package func limit(_ state: JobState, now: Int64) -> Int64? {
        let kept: Duration? =
            switch state {
            case .completed: completed
            case .cancelled: cancelled
            case .discarded: discarded
            case .scheduled, .available, .running, .retryable: nil
            }
        // One that ended exactly so long ago, or is kept for no time and ended just now, has expired.
        return kept.map { now - Int64($0.milliseconds) + 1 }
    }

    /// Thumbnails last used before this time have expired, in milliseconds since 1970; nil: none have.
    package func limitOfThumbnails(now: Int64) -> Int64? {
        thumbnails.map { now - Int64(($0 + Self.readingStep).milliseconds) }
    }
}

/// Counts of what pruning removed or would remove.
package struct Pruned: Hashable, Codable, Sendable {
    package var completed = 0
    package var cancelled = 0
    package var discarded = 0
    /// Thumbnails not read or made within their retention.
    package var thumbnails = 0
    /// Remembered failures of sources that have expired.
    package var sourceFailures = 0
    /// Concurrency keys without jobs.
    package var concurrencyKeys = 0
    /// Queues without jobs and without an operator's settings.
    package var queues = 0
    /// Blobs unreferenced for an hour.
    package var blobs = 0
    package var blobBytes = 0

    package init() {}

    package var isEmpty: Bool { self == Pruned() }

    package var jobs: Int { completed + cancelled + discarded }

    package mutating func note(_ state: JobState, _ count: Int) {
        switch state {
        case .completed: completed += count
        case .cancelled: cancelled += count
        case .discarded: discarded += count
        case .scheduled, .available, .running, .retryable: break
        }
    }

    package static func += (total: inout Pruned, step: Pruned) {
        let counts: [WritableKeyPath<Self, Int>] = [
            \.completed, \.cancelled, \.discarded, \.thumbnails, \.sourceFailures, \.concurrencyKeys, \.queues, \.blobs,
            \.blobBytes,
        ]
        for count in counts { total[keyPath: count] += step[keyPath: count] }
    }
}

/// The maintenance lock: the right to remove data, or to copy the store while no other process removes any. One process
/// holds it at a time, until the value is released.
package final class MaintenanceTurn: Sendable {
    /// How long a command waits for a worker's own pruning: longer than a process that was killed keeps the lock.
    package static let patience = Duration.seconds(90)

    /// What holds the right until it is released.
    package let lock: any Sendable
    /// Extends a right that would otherwise run out.
    private let renewal: (@Sendable () async throws -> Void)?

    package init(_ lock: any Sendable, renewal: (@Sendable () async throws -> Void)? = nil) {
        (self.lock, self.renewal) = (lock, renewal)
    }

    /// Extends the right until the task is cancelled. If that fails, whoever writes next by the right learns of its loss.
    func renew(every interval: Duration) async {
        guard let renewal else { return }
        while (try? await Task.sleep(for: interval)) != nil { try? await renewal() }
    }
}
