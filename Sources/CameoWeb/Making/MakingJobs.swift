internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Synchronization

/// The jobs of recently requested thumbnails. A page with many viewers must not enqueue a job for each view, neither
/// while the first job runs nor after it has failed.
final class MakingJobs: Sendable {
    /// How long a failure is remembered before a new job is enqueued.
    static let patience = Duration.seconds(60)
    private static let limit = 10_000
    private let jobs = Mutex<[ThumbnailID: Int64]>([:])

    func note(_ job: Int64, of thumbnail: ThumbnailID) {
        jobs.withLock { jobs in
            if jobs.count >= Self.limit { jobs.removeAll() }
            jobs[thumbnail] = job
        }
    }

    /// The job that is making the thumbnail, or that recently failed to; nil if a new job is needed.
    func job(of thumbnail: ThumbnailID, in store: any Store) async throws(StoreError) -> Int64? {
        guard let id = jobs.withLock({ $0[thumbnail] }) else { return nil }
        do throws(StoreError) {
            let job = try await store.jobInPlace(of: id)
            switch job.state {
            case .scheduled, .available, .running, .retryable: return id
            // A completed job's thumbnail has been removed since.
            case .completed, .cancelled: return nil
            case .discarded:
                let age = job.finalizedAt.map { Date().timeIntervalSince($0) } ?? .infinity
                return age < Self.patience.seconds ? id : nil
            }
        } catch .noSuchJob {
            return nil
        }
    }
}
