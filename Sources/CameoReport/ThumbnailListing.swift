package import CameoModel
package import CameoStore
internal import Foundation

/// An existing thumbnail, with the job that requested it.
package struct ListedThumbnail: Sendable {
    package let job: Job
    package let thumbnail: RequestedThumbnail
}

/// The thumbnails of a batch or of the whole store, beginning with the newest job. Jobs are read a page at a time.
package struct ThumbnailListing {
    private static let pageSize = 200

    let store: any Store
    let batch: String?

    package init(store: any Store, batch: String?) {
        self.store = store
        self.batch = batch
    }

    /// Calls `body` for every thumbnail that exists.
    package func forEach(_ body: (ListedThumbnail) async throws -> Void) async throws {
        try await forEachJob { job in
            for thumbnail in job.thumbnails where thumbnail.blob != nil {
                try await body(ListedThumbnail(job: job, thumbnail: thumbnail))
            }
        }
    }

    /// Calls `body` for every job, whether it has thumbnails or not.
    package func forEachJob(_ body: (Job) async throws -> Void) async throws {
        var filter = JobFilter()
        filter.batch = batch
        filter.limit = Self.pageSize
        while true {
            let jobs = try await store.jobs(filter)
            for job in jobs { try await body(job) }
            guard let last = jobs.last else { return }
            filter.before = last.id
        }
    }
}
