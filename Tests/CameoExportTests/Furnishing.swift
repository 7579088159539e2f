import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport

/// Fills a store with something of every kind, as workers, producers and operators do.
struct Furnishing {
    static let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    let store: any Store
    let clock: ConformanceClock
    private let worker = "w1"

    func run() async throws {
        try await store.register(
            WorkerDescription(id: worker, host: "host", pid: 1, version: "test", concurrency: 4)
        )
        try await settings()
        try await history()
        try await waiting()
        try await hooks()
        try await pictures()
        clock.advance(seconds: 3)
        try await store.deregister(worker)
    }

    @discardableResult
    private func enqueue(_ name: String, change: (inout ThumbnailRequest) -> Void = { _ in }) async throws
        -> EnqueueReceipt
    {
        clock.advance(seconds: 1)
        return try await store.enqueue([Fixture.request("file:///pictures/\(name).jpg", change: change)])[0]
    }

    private func claim() async throws -> ClaimedJob {
        guard let job = try await store.claim(limit: 1, for: worker).first else {
            throw StoreError.failed("nothing to claim")
        }
        return job
    }

    private func complete(_ bytes: Data) async throws {
        let job = try await claim()
        let request = try job.parsedRequest()
        let provenance = try Fixture.provenance(
            of: request.source,
            seen: try await store.beginFetch(job.claim, of: request).sourceSeen,
            source: request.source
        )
        var timings = AttemptTimings()
        (timings.fetchMilliseconds, timings.outputBytes, timings.cpuMilliseconds) = (7, bytes.count, 5)
        let product = JobProduct.rendered(try Fixture.rendered(job, bytes: bytes), provenance)
        try await store.settle(job.claim, as: .complete(product), timings: timings)
    }

    private func settings() async throws {
        try await store.limit(queue: "slow", to: 3, unknown: .created)
        try await store.limit(queue: "slow", toRate: StartRate(5, per: .seconds(60)), unknown: .created)
        try await store.setBackground(true, queue: "later", unknown: .created)
        _ = try await store.pause("held", unknown: .created)
        try await store.setHook("site", ofQueue: "told", unknown: .created)
        try await store.setFair(true, queue: "told", unknown: .created)
        try await store.setWeight(2.5, ofTenant: "acme")
        try await store.limit(key: "example.com", to: 2)
        try await store.limit(key: "example.com", toRate: StartRate(1, per: .seconds(3_600)))
    }

    private func history() async throws {
        try await enqueue("small") { $0.batch = "first" }
        try await complete(Data("small".utf8))
        try await enqueue("large") { $0.batch = "first" }
        try await complete(Self.large)
        try await enqueue("rated") { $0.queue = "slow" }
        try await complete(Data("rated".utf8))
        try await enqueue("limited") { $0.concurrencyKey = "example.com" }
        try await complete(Data("limited".utf8))
        let forgotten = try await enqueue("forgotten").jobID
        try await complete(Data("forgotten".utf8))
        _ = try await store.forget(ForgetSelector(.job(forgotten)), atOnce: false)
        // A request that needs no job, and another thumbnail of the same picture.
        try await enqueue("small") {
            $0.batch = "answered"
            $0.refresh = .never
        }
        try await enqueue("bad")
        let failure = JobFailure(.imageCorrupt, at: .render, "it's \"not\" a picture\n\u{1F980}")
        _ = try await store.settle(try await claim().claim, as: .discard(failure), timings: AttemptTimings())
        _ = try await store.cancel(try await enqueue("unwanted") { $0.priority = 3 }.jobID)
        try await enqueue("superseded")
        let job = try await claim()
        try await enqueue("superseded")
        let timeout = JobFailure(.sourceTimeout, at: .fetch, "slow")
        _ = try await store.settle(
            job.claim,
            as: .retry(timeout, at: clock.now + 60),
            timings: AttemptTimings()
        )
        try await complete(Data("superseding".utf8))
    }

    private func waiting() async throws {
        try await enqueue("retried") { $0.metadata = ["row": 7] }
        let timeout = JobFailure(.sourceTimeout, at: .fetch, "slow")
        _ = try await store.settle(
            try await claim().claim,
            as: .retry(timeout, at: clock.now + 3_600),
            timings: AttemptTimings()
        )
        try await enqueue("held") { $0.queue = "held" }
        try await enqueue("later") { $0.queue = "later" }
        try await enqueue("scheduled") { [clock] in $0.runAt = clock.now + 86_400 }
        try await enqueue("second of the key") { $0.concurrencyKey = "example.com" }
        try await enqueue("unique") {
            $0.uniqueKey = "only one"
            $0.batch = "second"
        }
        try await enqueue("hooked") { $0.hook = "other" }
        try await enqueue("urgent") { $0.priority = 9 }
        try await enqueue("of a tenant") { ($0.queue, $0.tenant) = ("told", "acme") }
        var request = Fixture.request("cameo://unused")
        request.batch = "uploads"
        _ = try await store.enqueue(
            request,
            data: Data("an upload".utf8),
            cacheKey: nil,
            once: try IdempotencyKey("once", of: "me")
        )
        _ = try await store.enqueue(request, data: Data("keyed".utf8), cacheKey: try CacheKey("avatar 1"))
        // One that has ended, and one that waits for its jobs.
        for name in ["empty", "second"] { try await store.add(BatchSeal(batch: name, hook: "album")) }
        try await store.endSealedBatches()
    }

    private func hooks() async throws {
        for name in ["told 1", "told 2", "told 3"] {
            let id = try await enqueue(name) { $0.queue = "told" }.jobID
            _ = try await store.cancel(id)
        }
        let deliveries = try await store.claimDeliveries(["site": 3], for: worker)
        try await store.settle(deliveries[0], as: .delivered)
        try await store.settle(deliveries[1], as: .retry(at: clock.now + 60, trouble: "HTTP 503"))
        try await store.settle(deliveries[2], as: .giveUp(trouble: "HTTP 410"))
    }

    private func pictures() async throws {
        _ = try await store.store(Data("pinned".utf8), mediaType: "text/plain")
        _ = try await store.store(Data(Self.large.reversed()), mediaType: nil)
        let peers = [Peer(origin: "https://example.com:443", .address("8.8.8.8"))]
        for (uri, variant) in [
            ("a", ""), ("b", ""), ("b", "Accept:image/webp"), (String(repeating: "x", count: 5_000), ""),
        ] {
            let bytes = Data("original \(uri.prefix(9)) \(variant)".utf8)
            let source = Fixture.original(
                bytes,
                uri: "https://example.com/\(uri)",
                variant: variant,
                seen: try await store.nextSourceSeen(),
                peers: peers
            )
            try await store.keep(source, data: bytes, budget: nil)
        }
        // Its bytes become an orphan.
        _ = try await store.forgetSource("https://example.com/a", .originals)
        try await store.remember(
            JobFailure(.sourceNotFound, at: .fetch, "404"),
            of: SourceKey(uri: "https://example.com/gone", scope: nil),
            until: clock.now + 600,
            seen: try await store.nextSourceSeen(),
            peers: peers
        )
    }
}
