import CameoModel
import CameoStore
import Foundation

/// A worker whose jobs have no pictures to make.
struct QueueBench: Sendable {
    let store: any Store
    let worker: String

    func register() async throws {
        let pid = Int(ProcessInfo.processInfo.processIdentifier)
        try await store.register(
            WorkerDescription(id: worker, host: "here", pid: pid, version: CameoVersion.current, concurrency: 32)
        )
    }

    func deregister() async throws {
        try await store.deregister(worker, adding: StoreCounters())
        await store.finish()
    }

    /// Prints a line at once, for a program that waits for it.
    func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    func claim(rounds: Int) async throws {
        var (times, claimed, held) = ([Double](), 0, [ClaimedJob]())
        for round in 0...rounds {
            let started = ContinuousClock.now
            let jobs = try await store.claim(
                ClaimRequest(limit: 32, background: 32, kind: .usual, queues: nil, for: worker)
            )
            // The first opens files and compiles statements, and lets full keys fill.
            if round > 0 {
                times.append(started.duration(to: .now).seconds * 1_000)
                claimed += jobs.count
            }
            for job in jobs {
                let isOfFullKey = job.request.contains("concurrencyKey")
                if isOfFullKey { held.append(job) } else { try await release(job) }
            }
        }
        for job in held { try await release(job) }
        times.sort()
        say("\(times[times.count / 2]) \(times[times.count - 1]) \(claimed / rounds)")
    }

    private func release(_ job: ClaimedJob) async throws {
        _ = try await store.settle(job.claim, as: .release, timings: AttemptTimings())
    }

    /// Four loops, so that one claims while others settle, and settlements share commits as those of a busy pool do.
    func drain() async throws {
        let started = ContinuousClock.now
        let count = try await inLoops(4) { loop in try await loop.untilNothingIsLeft(batch: 128) }
        say("\(count) \(started.duration(to: .now).seconds * 1_000)")
    }

    func enqueue(_ count: Int, tenants: Int? = nil) async throws {
        if tenants != nil { try await store.setFair(true, queue: ThumbnailRequest.defaultQueue, unknown: .created) }
        // Other sources in each process, so that no request joins another's job.
        let requests = (0..<count).map { number in
            var request = request("\(worker)/\(number)")
            request.tenant = tenants.map { "t\(number % $0)" }
            return request
        }
        let chunks = stride(from: 0, to: count, by: StoreLimits.enqueueChunk)
            .map { requests[$0..<min($0 + StoreLimits.enqueueChunk, count)] }
        let started = ContinuousClock.now
        var prepared = try await CheckedRequest.all(chunks.first ?? [])
        for index in chunks.indices {
            // The next chunk is prepared while this one is written, as cameo-enqueue does.
            async let next = CheckedRequest.all(index + 1 < chunks.count ? chunks[index + 1] : [])
            _ = try await store.enqueue(prepared)
            prepared = try await next
        }
        say("\(count) \(started.duration(to: .now).seconds * 1_000)")
    }

    func request(_ name: String) -> ThumbnailRequest {
        ThumbnailRequest(
            source: "https://pictures.example/\(name).jpg",
            renditions: [Rendition(width: 256, height: 256, fit: .cover)]
        )
    }

    // MARK: - Claiming and completing

    func inLoops(_ loops: Int, _ work: @escaping @Sendable (QueueBench) async throws -> Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<loops { group.addTask { try await work(self) } }
            return try await group.reduce(0, +)
        }
    }

    /// - Returns: how many jobs were completed.
    func untilNothingIsLeft(
        batch: Int,
        storing thumbnail: BenchThumbnail? = nil,
        until end: ContinuousClock.Instant? = nil
    ) async throws -> Int {
        var count = 0
        while end.map({ ContinuousClock.now < $0 }) ?? true {
            let jobs = try await store.claim(
                ClaimRequest(limit: batch, background: batch, kind: .usual, queues: nil, for: worker)
            )
            if jobs.isEmpty { break }
            try await complete(jobs, storing: thumbnail)
            count += jobs.count
        }
        return count
    }

    /// Completes jobs as if all of them had ended at one time.
    func complete(_ jobs: [ClaimedJob], storing thumbnail: BenchThumbnail? = nil) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for job in jobs {
                group.addTask {
                    let product = try thumbnail?.product(of: job) ?? .kept([], nil)
                    try await store.settle(job.claim, as: .complete(product), timings: AttemptTimings())
                }
            }
            try await group.waitForAll()
        }
    }
}
