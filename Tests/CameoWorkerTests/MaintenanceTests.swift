import CameoFetch
import CameoModel
import CameoRenderer
import CameoStore
import CameoWorker
import Foundation
import TestSupport
import Testing

/// What a worker does beside its jobs.
@Suite(.timeLimit(.minutes(1)))
struct MaintenanceTests {
    @Test func aWorkerThatCouldNotRemoveWhatIsOverTriesAgain() async throws {
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
        configuration.maintenanceInterval = .milliseconds(20)
        let renderer = try RendererPool(
            RendererConfiguration(executable: Repository.builtProduct("cameo-renderer"), processes: 1)
        )
        let worker = Worker(
            id: "w1",
            configuration: configuration,
            store: bench.store,
            fetcher: bench.fetcher,
            renderer: renderer,
            logger: bench.log.logger
        )
        let running = Task { try await worker.run() }
        defer { running.cancel() }
        try await waitUntil { bench.log.lines.contains { $0.contains("it shall stay") } }
        #expect(try await bench.store.status().count(.cancelled) == 1)
        try await bench.sql("DROP TRIGGER kept;")
        try await waitUntil { try await bench.store.status().count(.cancelled) == 0 }
        running.cancel()
        _ = await running.result
        await renderer.shutdown()
    }

    private func waitUntil(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(5)) }
    }
}
