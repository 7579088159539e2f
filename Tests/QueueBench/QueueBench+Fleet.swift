import CameoModel
import CameoStore
import Foundation

// What is measured of a store that many hosts share.
extension QueueBench {
    func loop(batch: Int, loops: Int, for time: Duration, storing thumbnail: BenchThumbnail?) async throws {
        let started = ContinuousClock.now
        let count = try await besideUpkeep {
            try await inLoops(loops) { loop in
                try await loop.untilNothingIsLeft(batch: batch, storing: thumbnail, until: started + time)
            }
        }
        say("\(count) \(started.duration(to: .now).seconds * 1_000)")
    }

    /// Runs a body, and beside it what a worker does beside its jobs.
    private func besideUpkeep<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await keepUp()
                return nil
            }
            // The upkeep ends only when it is cancelled, or fails.
            while let value = try await group.next() {
                guard let value else { continue }
                group.cancelAll()
                try await group.waitForAll()
                return value
            }
            throw CancellationError()
        }
    }

    /// Sweeps and extends the lease as often as a worker does: this numbers changes and folds counts.
    private func keepUp() async throws {
        var sweeps = 0
        while (try? await Task.sleep(for: .milliseconds(250))) != nil {
            _ = try await store.sweep(for: worker)
            sweeps += 1
            if sweeps.isMultiple(of: 20) {
                try await store.extendLease(of: worker, adding: StoreCounters(), WorkerProgress())
            }
        }
    }

    // MARK: - Churn

    /// The jobs that wait at least, and how many more are enqueued together.
    private static let (fewest, more) = (2_000, 500)

    func churn(for time: Duration) async throws {
        let end = ContinuousClock.now + time
        let tally = ChurnTally()
        try await besideUpkeep {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await feed(tally, until: end) }
                for _ in 0..<2 { group.addTask { try await work(tally, until: end) } }
                group.addTask {
                    while ContinuousClock.now < end {
                        try await Task.sleep(for: .seconds(1))
                        say(tally.takeReport())
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    private func feed(_ tally: ChurnTally, until end: ContinuousClock.Instant) async throws {
        var enqueued = 0
        while ContinuousClock.now < end {
            guard tally.waiting < Self.fewest else {
                try await Task.sleep(for: .milliseconds(5))
                continue
            }
            let requests = (enqueued..<enqueued + Self.more).map { request("\(worker)/\($0)") }
            _ = try await store.enqueue(requests)
            enqueued += Self.more
            tally.note(enqueued: Self.more)
        }
    }

    private func work(_ tally: ChurnTally, until end: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < end {
            let started = ContinuousClock.now
            let jobs = try await store.claim(
                ClaimRequest(limit: 32, background: 32, kind: .usual, queues: nil, for: worker)
            )
            if jobs.isEmpty {
                try await Task.sleep(for: .milliseconds(2))
                continue
            }
            let took = started.duration(to: .now).seconds * 1_000
            try await complete(jobs)
            tally.note(ended: jobs.count, claimedIn: took)
        }
    }

    // MARK: - Following

    func follow() async throws {
        let request = ClaimRequest(limit: 32, background: 32, kind: .usual, queues: nil, for: worker)
        try await besideUpkeep {
            for await _ in store.wakeUps(pause: { .milliseconds(2) }) {
                while case let jobs = try await store.claim(request), !jobs.isEmpty {
                    for job in jobs { say("\(job.claim.jobID)") }
                    try await complete(jobs)
                }
            }
        }
    }
}
