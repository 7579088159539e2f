import CacheConformance
import CameoFetch
import CameoModel
import CameoRenderer
import CameoSQLite
import CameoStore
import CameoWorker
import Foundation
import TestSupport
import Testing

/// The upkeep that a worker does beside its jobs.
@Suite(.origin, .timeLimit(.minutes(10)))
struct MaintenanceTests {
    @Test func aWorkerThatFailsToPruneTriesAgain() async throws {
        let bench = try CacheBench()
        let request = ThumbnailRequest(source: "data:,", renditions: [Rendition(width: 9)])
        let id = try await bench.store.enqueue([request])[0].jobID
        _ = try await bench.store.cancel(id)
        bench.clock.advance(1)
        try await bench.sql(
            "CREATE TRIGGER kept BEFORE DELETE ON job BEGIN SELECT RAISE(ABORT, 'it shall stay'); END;"
        )
        var configuration = WorkerConfiguration()
        configuration.retention.cancelled = .zero
        try await whileAWorkerRuns(configuration, bench) {
            try await waitUntil { bench.log.lines.contains { $0.contains("it shall stay") } }
            #expect(try await bench.store.status().count(.cancelled) == 1)
            try await bench.sql("DROP TRIGGER kept;")
            try await waitUntil { try await bench.store.status().count(.cancelled) == 0 }
        }
    }

    /// The cache may exceed the budget again, if another worker has a larger one.
    @Test func aWorkerEvictsOriginalsOverItsBudgetPeriodically() async throws {
        let (bench, origin) = (try CacheBench(), try #require(OriginScope.current))
        var configuration = WorkerConfiguration()
        configuration.cacheBudget = 10
        try await whileAWorkerRuns(configuration, bench) {
            for round in 1...2 {
                for number in 1...3 {
                    let path = "/scripted/\(round)-\(number)"
                    let answer = ScriptedAnswer(200, ["Cache-Control: max-age=60"], body: "0123456789")
                    try await origin.script(path, answer)
                    #expect(try await bench.outcome(origin.url(path)) == "fetched 0123456789")
                }
                try await waitUntil { try await bench.store.status().sources.bytes <= 10 }
            }
        }
        #expect(try await bench.store.status().sources.evicted == 5)
    }

    /// Other workers take the jobs of a worker whose lease has expired.
    @Test func aWorkerExtendsItsLeaseAsLongAsItLives() async throws {
        let bench = try CacheBench()
        var configuration = WorkerConfiguration()
        configuration.leaseInterval = .milliseconds(20)
        try await whileAWorkerRuns(configuration, bench) {
            try await waitUntil { try await !bench.store.status().workers.isEmpty }
            for _ in 1...3 {
                bench.clock.advance(29)
                let lease = Int64(bench.clock.now().timeIntervalSince1970 * 1_000) + Lease.milliseconds
                let until = "SELECT lease_until >= \(lease) FROM worker;"
                try await waitUntil { try await bench.sql(until).hasSuffix("\n1\n") }
            }
        }
    }

    /// Runs a worker with frequent upkeep while `body` runs.
    private func whileAWorkerRuns(
        _ configuration: WorkerConfiguration,
        _ bench: CacheBench,
        _ body: () async throws -> Void
    ) async throws {
        var configuration = configuration
        configuration.maintenanceInterval = .milliseconds(20)
        try await bench.withWorker(configuration) { worker in
            let running = Task { try await worker.run() }
            defer { running.cancel() }
            try await body()
            running.cancel()
            _ = await running.result
        }
    }

    private func waitUntil(_ condition: () async throws -> Bool) async throws {
        try await eventually("the upkeep is done", condition)
    }
}
