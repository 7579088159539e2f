internal import CameoModel

// DESIGN. A backfill keeps no state. It goes over the sources in pages; what is fresh is counted, and what is not is
// enqueued. A job that waits or runs for the same thumbnails is joined. So a backfill that was killed is repeated, and goes
// on where it was at the price of reading what it had read. Every write is short: it shares the store with producers.

/// Brings the thumbnails of known sources up to date.
package struct Backfill: Sendable {
    /// The queue of the jobs: a background queue.
    package static let queue = "backfill"
    /// The sources read at a time.
    private static let page = 200
    /// The most jobs enqueued in a transaction: a claim waits for it.
    private static let jobs = 100
    /// The most thumbnails removed in a transaction.
    private static let removals = 100

    package typealias BackfillStore = ReaderStore & ProducerStore & OperatorStore

    private let store: any BackfillStore
    private let selection: KnownSourceSelection
    private let rules: BackfillRules

    package init(in store: any BackfillStore, of selection: KnownSourceSelection, by rules: BackfillRules) {
        (self.store, self.selection, self.rules) = (store, selection, rules)
    }

    /// Counts what ``run(unlisted:report:)`` would do. Calls `report` after each page with the counts so far.
    package func survey(report: (BackfillCounts) -> Void = { _ in }) async throws -> BackfillCounts {
        try await walk(report) { _, _ in }
    }

    /// Whether thumbnails that no preset names are removed.
    package enum Unlisted: Sendable {
        case kept, removed
    }

    /// Enqueues a job for every source that needs one. Calls `report` after each page with the counts so far.
    package func run(
        unlisted: Unlisted = .kept,
        report: (BackfillCounts) -> Void = { _ in }
    ) async throws -> BackfillCounts {
        // A queue that an operator has already made is left as it is.
        let hasQueue = try await store.queues().contains { $0.name == Self.queue }
        if !hasQueue { try await store.setBackground(true, queue: Self.queue, unknown: .created) }
        var (requests, removals, done) = ([ThumbnailRequest](), [ThumbnailID](), BackfillCounts())
        var counts = try await walk(report) { source, verdict in
            if !verdict.renditions.isEmpty { requests.append(Self.request(source, verdict.renditions)) }
            if case .removed = unlisted { removals += verdict.unlisted }
            if requests.count >= Self.jobs { try await enqueue(&requests, &done) }
            if removals.count >= Self.removals { try await remove(&removals, &done) }
        }
        try await enqueue(&requests, &done)
        try await remove(&removals, &done)
        counts += done
        return counts
    }

    private func walk(
        _ report: (BackfillCounts) -> Void,
        _ body: (String, BackfillRules.Verdict) async throws -> Void
    ) async throws -> BackfillCounts {
        var (counts, rules, cursor) = (BackfillCounts(), rules, String?.none)
        repeat {
            try Task.checkCancellation()
            let page = try await store.knownSources(selection, after: cursor, limit: Self.page)
            if let version = page.newestVideoVersion { rules.newestVideoVersion = version }
            for source in page.sources {
                let verdict = try rules.verdict(on: source)
                counts += verdict.counts
                try await body(source.source, verdict)
            }
            report(counts)
            cursor = page.next
        } while cursor != nil
        return counts
    }

    private static func request(_ source: String, _ renditions: [Rendition]) -> ThumbnailRequest {
        ThumbnailRequest(
            source: source,
            renditions: renditions,
            queue: queue,
            priority: ThumbnailRequest.priorityRange.lowerBound
        )
    }

    private func enqueue(_ requests: inout [ThumbnailRequest], _ done: inout BackfillCounts) async throws {
        guard !requests.isEmpty else { return }
        let checked = try await CheckedRequest.all(requests).map { request in
            var request = request
            request.needsJob = true
            return request
        }
        done.joined += try await store.enqueue(checked).count { $0.outcome == .joined }
        requests = []
    }

    private func remove(_ thumbnails: inout [ThumbnailID], _ done: inout BackfillCounts) async throws {
        for start in stride(from: 0, to: thumbnails.count, by: Self.removals) {
            let some = thumbnails[start..<min(start + Self.removals, thumbnails.count)]
            done.removed += try await store.removeThumbnails(Array(some))
        }
        thumbnails = []
    }
}

/// What a backfill has found and done.
package struct BackfillCounts: Hashable, Sendable {
    /// The sources looked at.
    package var sources = 0
    /// Sources that only requests with credentials have named, which are not kept.
    package var privateSources = 0
    /// Sources whose bytes were in the store, and are no longer.
    package var goneSources = 0

    /// Renditions of all other sources that are as they should be.
    package var fresh = 0
    /// Renditions that have never been made, or have been removed.
    package var missing = 0
    /// Renditions that exist under the same name, but defined otherwise.
    package var changed = 0
    /// Renditions that another version of the renderer has made.
    package var outdated = 0
    /// Renditions whose bytes are lost or damaged.
    package var damaged = 0

    /// The jobs that these renditions need.
    package var jobs = 0
    /// Jobs that were waiting or running already; counted when jobs are enqueued.
    package var joined = 0
    /// Thumbnails that no preset names, of sources whose renditions all exist.
    package var unlisted = 0
    /// Those of them that were removed.
    package var removed = 0

    package static func += (total: inout BackfillCounts, more: BackfillCounts) {
        let counts: [WritableKeyPath<Self, Int>] = [
            \.sources, \.privateSources, \.goneSources, \.fresh, \.missing, \.changed, \.outdated, \.damaged, \.jobs,
            \.joined, \.unlisted, \.removed,
        ]
        for count in counts { total[keyPath: count] += more[keyPath: count] }
    }
}
