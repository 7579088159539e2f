import CameoModel
import CameoPostgreSQL
import CameoStore
import Foundation
import Testing

// Short forms of the calls of workers.
extension PostgreSQLStore {
    func complete(_ job: ClaimedJob) async throws {
        let product = try JobProduct.rendered(StoreFixture.rendered(job), StoreFixture.provenance())
        try await complete(job.claim, with: product, timings: AttemptTimings())
    }

    func complete(_ claim: Claim, keeping thumbnails: [ThumbnailID] = [], seen: Revalidation? = nil) async throws {
        try await complete(claim, with: .kept(thumbnails, seen), timings: AttemptTimings())
    }

    /// The job is retried at `retryAt`, or discarded if that is nil.
    @discardableResult
    func fail(_ claim: Claim, with failure: JobFailure, retryAt: Date? = nil) async throws -> Settlement {
        let end = retryAt.map { AttemptEnd.retry(failure, at: $0) } ?? .discard(failure)
        return try await settle(claim, as: end, timings: AttemptTimings())
    }

    @discardableResult
    func release(_ claim: Claim) async throws -> Settlement {
        try await settle(claim, as: .release, timings: AttemptTimings())
    }

    /// Discards claimed jobs concurrently, so that they share commits.
    func discard(_ jobs: [ClaimedJob], _ failure: JobFailure) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for job in jobs { group.addTask { try await self.fail(job.claim, with: failure) } }
            try await group.waitForAll()
        }
    }

    /// Cancels every waiting job.
    func cancelAll() async throws {
        var waiting = JobFilter()
        (waiting.states, waiting.limit) = ([.available], .max)
        _ = try await change(waiting, by: .cancel)
    }

    /// The maintenance lock, as soon as it is free: it is given back shortly after its last reference goes.
    func freeTurn() async throws -> MaintenanceTurn {
        try #require(try await maintenanceTurn(within: .seconds(60)))
    }
}
