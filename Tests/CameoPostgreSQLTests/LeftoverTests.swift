import CameoModel
import CameoStore
import Foundation
import StoreConformance
import Testing

@testable import CameoPostgreSQL

/// Obsolete rows.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct LeftoverTests {
    private let fixture: StoreFixture

    init() async throws {
        fixture = try await StoreFixture()
    }

    private var store: PostgreSQLStore { fixture.store }

    private func remember(_ number: Int, seconds: Double) async throws {
        try await store.remember(
            JobFailure(.sourceNotFound, at: .fetch, "404", isRetryable: false),
            of: SourceKey(uri: "https://example.com/\(number)", scope: nil),
            until: fixture.clock.now.addingTimeInterval(seconds),
            seen: Int64(number),
            peers: []
        )
    }

    @Test func expiredSourceFailuresAreRemoved() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...230 { group.addTask { try await remember(number, seconds: 60) } }
            try await group.waitForAll()
        }
        try await remember(1_000, seconds: 61)
        fixture.clock.advance(seconds: 59)
        #expect(try await fixture.prune(.forever).isEmpty)
        fixture.clock.advance(seconds: 1)
        #expect(try await store.prunable(.forever).sourceFailures == 230)
        var steps: [Int] = []
        #expect(try await fixture.prune(.forever) { steps.append($0.sourceFailures) }.sourceFailures == 230)
        #expect(steps == [100, 100, 30])
        let last = SourceKey(uri: "https://example.com/1000", scope: nil)
        #expect(try await store.rememberedFailure(of: last) != nil)
        #expect(try await fixture.sql("SELECT count(*) FROM source_failure") == "1")
    }

    private func keys() async throws -> String {
        try await names("key")
    }

    /// However its jobs ended, because one may be retried and needs its limit.
    @Test func aConcurrencyKeyIsRemovedWithItsLastJob() async throws {
        try await fixture.register()
        let later = fixture.clock.now.addingTimeInterval(1_000_000)
        try await fixture.enqueue(2) { $0.concurrencyKey = "ended" }
        try await fixture.enqueue { $0.concurrencyKey = "gone" }
        try await fixture.enqueue {
            $0.concurrencyKey = "scheduled"
            $0.runAt = later
        }
        try await store.limit(key: "operator", to: 3)
        for id in Int64(1)...3 { _ = try await store.cancel(id) }
        fixture.clock.advance(seconds: 60)
        try await store.transaction { db in
            _ = try db.execute("DELETE FROM job WHERE id = 3")
            db.forget(.cancelled, in: 1)
        }
        #expect(try await store.prunable(.forever).concurrencyKeys == 1)
        #expect(try await fixture.prune(.forever).concurrencyKeys == 1)
        #expect(try await keys() == "ended operator scheduled")
        _ = try await store.retry(1)
        #expect(try await store.claim(limit: 9, for: "w1").map(\.claim.jobID) == [1])

        var retention = Retention.forever
        retention.cancelled = .seconds(1)
        #expect(try await fixture.prune(retention).concurrencyKeys == 0, "one of its jobs runs")
        _ = try await store.cancel(1)
        fixture.clock.advance(seconds: 2)
        let pruned = try await fixture.prune(retention)
        #expect((pruned.cancelled, pruned.concurrencyKeys) == (1, 1))
        #expect(try await keys() == "operator scheduled")
        try await fixture.enqueue(2) { $0.concurrencyKey = "ended" }
        #expect(try await store.claim(limit: 9, for: "w1").count == 1, "the key starts over with one job at a time")
        #expect(try await fixture.wrongCounts() == "")
    }

    private func insertKeys(_ count: Int) async throws {
        try await fixture.sql(
            "INSERT INTO key(name, max_running) SELECT 'k' || n, 2 FROM generate_series(0, \(count) - 1) AS n"
        )
    }

    @Test func aKeyThatAJobUsesMeanwhileIsKept() async throws {
        try await insertKeys(101)
        let fixture = fixture
        let pruned = try await fixture.prune(.forever) { step in
            // Between the scan, which found all, and the transaction that would remove the last one.
            if step.concurrencyKeys == 100 { _ = try? await fixture.enqueue { $0.concurrencyKey = "k100" } }
        }
        #expect(pruned.concurrencyKeys == 100)
        #expect(try await keys() == "k100")
    }

    @Test func keysAreRemovedInSmallTransactions() async throws {
        try await insertKeys(230)
        var steps: [Int] = []
        #expect(try await fixture.prune(.forever) { steps.append($0.concurrencyKeys) }.concurrencyKeys == 230)
        #expect(steps == [100, 100, 30])
    }

    private func names(_ table: String) async throws -> String {
        try await fixture.sql("SELECT string_agg(name, ' ' ORDER BY name) FROM \(table)")
    }

    /// An operator's pause, limit or rate is kept for future jobs.
    @Test func queuesAndBatchesWithoutJobsAreRemoved() async throws {
        for queue in ["ended", "limited", "paused", "rated", "waits"] {
            try await fixture.enqueue {
                $0.queue = queue
                $0.batch = "of-\(queue)"
            }
        }
        try await store.limit(queue: "limited", to: 3)
        try await store.limit(queue: "rated", toRate: StartRate("1/s"))
        for id in Int64(1)...4 { _ = try await store.cancel(id) }
        _ = try await store.pause("paused")
        #expect(try await fixture.prune(.forever).isEmpty)
        fixture.clock.advance(seconds: 60)
        var retention = Retention.forever
        retention.cancelled = .seconds(1)
        let pruned = try await fixture.prune(retention)
        #expect((pruned.cancelled, pruned.queues) == (4, 1))
        #expect(try await names("queue") == "limited paused rated waits")
        #expect(try await names("batch") == "of-waits")
        #expect(try await fixture.sql("SELECT count(*) FROM lane WHERE queue NOT IN (SELECT id FROM queue)") == "0")
        try await fixture.enqueue { $0.queue = "ended" }
        #expect(try await store.claim(limit: 1, queues: ["ended"], for: "w1").count == 1)
    }

    @Test func thousandsOfEmptyQueuesAreRemovedInSmallTransactions() async throws {
        try await fixture.sql("INSERT INTO queue(name) SELECT 'q' || n FROM generate_series(1, 2000) AS n")
        var steps: [Int] = []
        #expect(try await fixture.prune(.forever) { steps.append($0.queues) }.queues == 2_000)
        #expect(steps.allSatisfy { $0 <= 100 })
    }
}
