internal import CameoModel
package import CameoStore
internal import Foundation
internal import TestSupport
internal import Testing

/// A store for a single test case.
package struct Fixture: Sendable {
    package let engine: any StoreEngine
    package let clock = ConformanceClock()
    package let store: any Store

    package init(_ engine: any StoreEngine) async throws {
        self.engine = engine
        store = try await engine.makeStore(clock: clock)
    }

    func another() async throws -> any Store { try await engine.another(store, clock: clock) }

    func register(_ id: String = "w1", in store: (any Store)? = nil) async throws {
        let worker = WorkerDescription(id: id, host: "host", pid: 1, version: "test", concurrency: 4)
        try await (store ?? self.store).register(worker)
    }

    /// Enqueues jobs with different sources.
    @discardableResult
    func enqueue(_ count: Int = 1, from first: Int = 0, change: (inout ThumbnailRequest) -> Void = { _ in })
        async throws
        -> [Int64]
    {
        let receipts = try await store.enqueue((first..<(first + count)).map { Self.request($0, change: change) })
        return receipts.compactMap(\.id)
    }

    static func request(_ number: Int = 0, change: (inout ThumbnailRequest) -> Void = { _ in }) -> ThumbnailRequest {
        var request = ThumbnailRequest(
            source: "file:///pictures/\(number).jpg",
            renditions: [Rendition(width: 64, height: 64)]
        )
        change(&request)
        return request
    }

    func claim(_ limit: Int = 1, _ kind: ClaimKind = .usual, queues: [String]? = nil, for worker: String = "w1")
        async throws -> [ClaimedJob]
    {
        try await store.claim(limit: limit, kind: kind, queues: queues, for: worker)
    }

    /// The product that a renderer would have made.
    package static func product(
        of job: ClaimedJob,
        bytes: String = "thumbnail",
        seen: Int64 = 1,
        source: String = "picture"
    )
        throws -> JobProduct
    {
        let request = try job.parsedRequest()
        let thumbnails = zip(try request.thumbnailIDs(), request.renditions).map { id, rendition in
            RenderedThumbnail(
                id: id,
                rendition: rendition,
                encoded: .made(of: Data(bytes.utf8), hasAlpha: true)
            )
        }
        let provenance = Provenance(
            source: try SourceIdentity(of: request.source),
            sourceDigest: SHA256.digest(of: Data(source.utf8)),
            sourceSeen: seen,
            rendererVersion: "test-1",
            picture: PictureFacts(format: .gif, width: 640, height: 480, pages: 3, hasAlpha: true),
            isTruncated: false
        )
        return .rendered(thumbnails, provenance)
    }

    func complete(_ job: ClaimedJob, bytes: String = "thumbnail", seen: Int64 = 1) async throws {
        let product = try Self.product(of: job, bytes: bytes, seen: seen)
        try await store.complete(job.claim, with: product, timings: AttemptTimings())
    }

    func state(of id: Int64) async throws -> JobState { try await store.job(id).state }

    static let failure = JobFailure(.sourceTimeout, at: .fetch, "slow")

    /// Retries the rescue of a worker, which may be delayed: other tests start programs, and between fork and exec a
    /// child has a copy of the lock.
    func rescue(_ worker: String) async throws -> RescueReport {
        while true {
            try Task.checkCancellation()
            let report = try await store.rescueExpired(except: nil)
            if report.workers.contains(worker) { return report }
        }
    }
}

/// Expects a call to fail because its claim is lost.
func expectLeaseLost(_ job: ClaimedJob, _ body: () async throws -> Void) async {
    await #expect(throws: StoreError.leaseLost(jobID: job.claim.jobID)) { try await body() }
}
