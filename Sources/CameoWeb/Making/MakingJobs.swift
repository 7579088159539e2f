internal import CameoModel
internal import CameoStore
internal import Foundation
internal import Synchronization

/// The jobs of thumbnails that were asked for a moment ago: a page that many look at must not enqueue one for each view,
/// neither while the first of them runs nor when it has failed.
final class MakingJobs: Sendable {
    /// For how long a failure stands.
    static let patience = Duration.seconds(60)
    private static let limit = 10_000
    private let jobs = Mutex<[ThumbnailID: Int64]>([:])

    func note(_ job: Int64, of thumbnail: ThumbnailID) {
        jobs.withLock { jobs in
            if jobs.count >= Self.limit { jobs.removeAll() }
            jobs[thumbnail] = job
        }
    }

    /// The job that makes it, or has failed to a moment ago; nil where a new one is called for.
    func job(of thumbnail: ThumbnailID, in store: any Store) async throws(StoreError) -> Int64? {
        guard let id = jobs.withLock({ $0[thumbnail] }) else { return nil }
        do throws(StoreError) {
            let job = try await store.jobInPlace(of: id)
            switch job.state {
            case .scheduled, .available, .running, .retryable: return id
            // What it made has been removed since.
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
