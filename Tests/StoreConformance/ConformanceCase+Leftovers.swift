import CameoModel
import CameoStore
import Foundation
import Testing

extension ConformanceCase {
    /// Obsolete rows.
    static let leftovers: [ConformanceCase] = [
        ConformanceCase("expired source failures are removed") { fixture in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...230 { group.addTask { try await fixture.remember(number, seconds: 60) } }
                try await group.waitForAll()
            }
            try await fixture.remember(1_000, seconds: 61)
            fixture.clock.advance(seconds: 59)
            #expect(try await fixture.prune(.forever).isEmpty)
            fixture.clock.advance(seconds: 1)
            #expect(try await fixture.store.prunable(.forever).sourceFailures == 230)
            var steps: [Int] = []
            #expect(try await fixture.prune(.forever) { steps.append($0.sourceFailures) }.sourceFailures == 230)
            #expect(steps == [100, 100, 30])
            let last = SourceKey(uri: "https://example.com/1000", scope: nil)
            #expect(try await fixture.store.rememberedFailure(of: last) != nil)
            #expect(try await fixture.sql("SELECT count(*) FROM source_failure") == "1")
        },
        ConformanceCase("a concurrency key is removed with its last job") { fixture in
            // However its jobs ended, because one may be retried and needs its limit.
            try await fixture.register()
            let later = fixture.clock.now.addingTimeInterval(1_000_000)
            try await fixture.enqueue(2) { $0.concurrencyKey = "ended" }
            try await fixture.enqueue { $0.concurrencyKey = "gone" }
            try await fixture.enqueue {
                $0.concurrencyKey = "scheduled"
                $0.runAt = later
            }
            try await fixture.store.limit(key: "operator", to: 3)
            for id in Int64(1)...3 { _ = try await fixture.store.cancel(id) }
            fixture.clock.advance(seconds: 60)
            try await fixture.engine.remove(3, in: fixture.store)
            #expect(try await fixture.store.prunable(.forever).concurrencyKeys == 1)
            #expect(try await fixture.prune(.forever).concurrencyKeys == 1)
            #expect(try await fixture.names(in: "key") == ["ended", "operator", "scheduled"])
            _ = try await fixture.store.retry(1)
            #expect(try await fixture.store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])

            var retention = Retention.forever
            retention.cancelled = .seconds(1)
            #expect(try await fixture.prune(retention).concurrencyKeys == 0, "one of its jobs runs")
            _ = try await fixture.store.cancel(1)
            fixture.clock.advance(seconds: 2)
            let pruned = try await fixture.prune(retention)
            #expect((pruned.cancelled, pruned.concurrencyKeys) == (1, 1))
            #expect(try await fixture.names(in: "key") == ["operator", "scheduled"])
            try await fixture.enqueue(2) { $0.concurrencyKey = "ended" }
            let started = try await fixture.store.claim(limit: 9, for: "w1").count
            #expect(started == 1, "the key starts over with one job at a time")
            #expect(try await fixture.faults() == [])
        },
        ConformanceCase("a key that a job uses meanwhile is kept") { fixture in
            try await fixture.insertKeys(101)
            let pruned = try await fixture.prune(.forever) { step in
                // Between the scan, which found all, and the transaction that would remove the last one.
                if step.concurrencyKeys == 100 { _ = try? await fixture.enqueue { $0.concurrencyKey = "k100" } }
            }
            #expect(pruned.concurrencyKeys == 100)
            #expect(try await fixture.names(in: "key") == ["k100"])
        },
        ConformanceCase("keys are removed in small transactions") { fixture in
            try await fixture.insertKeys(230)
            var steps: [Int] = []
            #expect(try await fixture.prune(.forever) { steps.append($0.concurrencyKeys) }.concurrencyKeys == 230)
            #expect(steps == [100, 100, 30])
        },
        ConformanceCase("queues and batches without jobs are removed") { fixture in
            // An operator's pause, limit or rate is kept for future jobs.
            for queue in ["ended", "limited", "paused", "rated", "waits"] {
                try await fixture.enqueue {
                    $0.queue = queue
                    $0.batch = "of-\(queue)"
                }
            }
            try await fixture.store.limit(queue: "limited", to: 3)
            try await fixture.store.limit(queue: "rated", toRate: StartRate("1/s"))
            for id in Int64(1)...4 { _ = try await fixture.store.cancel(id) }
            _ = try await fixture.store.pause("paused")
            #expect(try await fixture.prune(.forever).isEmpty)
            fixture.clock.advance(seconds: 60)
            var retention = Retention.forever
            retention.cancelled = .seconds(1)
            let pruned = try await fixture.prune(retention)
            #expect((pruned.cancelled, pruned.queues) == (4, 1))
            #expect(try await fixture.names(in: "queue") == ["limited", "paused", "rated", "waits"])
            #expect(try await fixture.names(in: "batch") == ["of-waits"])
            let lanes = "SELECT count(*) FROM lane WHERE queue NOT IN (SELECT id FROM queue)"
            #expect(try await fixture.sql(lanes) == "0")
            try await fixture.enqueue { $0.queue = "ended" }
            #expect(try await fixture.store.claim(limit: 1, queues: ["ended"], for: "w1").count == 1)
        },
        ConformanceCase("ten thousand empty queues are removed in small transactions") { fixture in
            try await fixture.insert(10_000, into: "queue(name)", values: "'q' || n")
            var steps: [Int] = []
            #expect(try await fixture.prune(.forever) { steps.append($0.queues) }.queues == 10_000)
            #expect(steps.allSatisfy { $0 <= 100 })
        },
    ]
}

extension Fixture {
    fileprivate func remember(_ number: Int, seconds: Double) async throws {
        try await store.remember(
            JobFailure(.sourceNotFound, at: .fetch, "404", isRetryable: false),
            of: SourceKey(uri: "https://example.com/\(number)", scope: nil),
            until: clock.now + seconds,
            seen: Int64(number),
            peers: []
        )
    }

    /// Inserts numbered rows into a table with names, from 0.
    fileprivate func insert(_ count: Int, into table: String, values: String) async throws {
        try await sql(
            """
            WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < \(count) - 1)
            INSERT INTO \(table) SELECT \(values) FROM number
            """
        )
    }

    fileprivate func insertKeys(_ count: Int) async throws {
        try await insert(count, into: "key(name, max_running)", values: "'k' || n, 2")
    }

    fileprivate func names(in table: String) async throws -> [Substring] {
        try await sql("SELECT name FROM \(table) ORDER BY name").split(separator: "\n")
    }
}
