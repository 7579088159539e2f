package import CameoModel

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
        total.completed += step.completed
        total.cancelled += step.cancelled
        total.discarded += step.discarded
        total.thumbnails += step.thumbnails
        total.sourceFailures += step.sourceFailures
        total.concurrencyKeys += step.concurrencyKeys
        total.queues += step.queues
        total.blobs += step.blobs
        total.blobBytes += step.blobBytes
    }
}
