package import CameoModel

/// What retention removed, or would.
package struct Pruned: Hashable, Codable, Sendable {
    package var completed = 0
    package var cancelled = 0
    package var discarded = 0
    /// Not read or made for long.
    package var thumbnails = 0
    /// Failures of sources, remembered until a time that is over.
    package var sourceFailures = 0
    /// Concurrency keys that no job has any more.
    package var concurrencyKeys = 0
    /// Queues that no job has any more, and that no operator has set up.
    package var queues = 0
    /// Bytes that nothing has named for an hour.
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
