internal import CameoModel
internal import Synchronization

/// Thumbnails that could not be made a moment ago: a page that is looked at by many must not enqueue a job for each view.
final class RecentFailures: Sendable {
    struct Failure: Sendable {
        let job: Int64
        let until: ContinuousClock.Instant
    }

    static let lifetime = Duration.seconds(60)
    private static let limit = 10_000
    private let failures = Mutex<[ThumbnailID: Failure]>([:])

    func note(_ job: Int64, of thumbnail: ThumbnailID) {
        failures.withLock { failures in
            if failures.count >= Self.limit { failures = failures.filter { $0.value.until > .now } }
            if failures.count >= Self.limit { failures.removeAll() }
            failures[thumbnail] = Failure(job: job, until: .now + Self.lifetime)
        }
    }

    /// The job that has failed; nil where none has, or it is longer ago.
    func job(of thumbnail: ThumbnailID) -> Int64? {
        failures.withLock { failures in failures[thumbnail].flatMap { $0.until > .now ? $0.job : nil } }
    }
}
