package import CameoModel
package import CameoStore
internal import Foundation

// For rows that no transaction of Cameo leaves.
extension StoreSteps {
    /// Jobs in several states, a cached original, and the thumbnail whose id is returned.
    package func furnish() async throws -> ThumbnailID {
        try await register()
        try await enqueue(6) {
            ($0.concurrencyKey, $0.batch) = ("k", "b")
        }
        try await enqueue(6)
        try await faces.limit(queue: "default", toRate: StartRate(100, per: .seconds(1)), unknown: .refused)
        let jobs = try await faces.claim(limit: 4, for: "w1")
        for job in jobs.prefix(2) { try await faces.complete(job) }
        if let job = jobs.dropFirst(2).first {
            let failure = JobFailure(.sourceNotFound, at: .fetch, "none")
            _ = try await faces.settle(job.claim, as: .discard(failure), timings: AttemptTimings())
        }
        let bytes = Self.bytes("a")
        try await faces.keep(Self.original(bytes), data: bytes, budget: nil)
        _ = try await faces.changes(since: 0, limit: 100)
        _ = try await faces.maintenanceTurn()
        return try Self.request(0).thumbnailIDs()[0]
    }

    /// Every call may fail, and none may end the program.
    package func callAll(of store: any Store, _ thumbnail: ThumbnailID) async {
        _ = try? await store.status()
        _ = try? await store.metrics()
        _ = try? await store.jobs(JobFilter())
        _ = try? await store.job(1)
        _ = try? await store.changes(since: 0, limit: 100)
        _ = try? await store.queues()
        _ = try? await store.batches(before: nil, limit: 9)
        _ = try? await store.batch("b")
        _ = try? await store.concurrencyLimits()
        _ = try? await store.thumbnail(thumbnail)
        _ = try? await store.data(of: .thumbnail(thumbnail))
        _ = try? await store.cachedSource(Self.uri)
        _ = try? await store.prunable(Retention())
        _ = try? await store.version()
        _ = try? await store.sweep(for: "w1")
        _ = try? await store.rescueExpired(except: "w1")
        for job in (try? await store.claim(limit: 1, for: "w1")) ?? [] {
            // As a worker logs how long the job has waited.
            _ = Int(clock.now.timeIntervalSince(job.availableAt) * 1_000)
        }
        _ = try? await store.enqueue([Self.request("file:///more") { $0.concurrencyKey = "k" }])
    }
}
