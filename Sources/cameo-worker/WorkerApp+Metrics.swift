internal import CameoRenderer
internal import CameoReport
internal import CameoStore
internal import Foundation
internal import Logging

extension WorkerApp {
    /// Serves the store's metrics, with this process's own.
    func serve(_ server: MetricsServer, _ store: any Store, _ renderer: RendererPool, _ logger: Logger) {
        let startedAt = Date()
        server.start {
            var metrics = try await MetricsText(of: store, by: "cameo-worker")
            let statistics = renderer.statistics
            metrics.add(
                "cameo_worker_renderers_busy",
                .gauge,
                "Renderers of this worker that are rendering.",
                [.init(statistics.rendering)]
            )
            metrics.add(
                "cameo_worker_renderer_resident_bytes",
                .gauge,
                unit: "bytes",
                "Resident memory of this worker's renderers.",
                [.init(statistics.residentBytes.values.reduce(0, +))]
            )
            metrics.add(
                "process_start_time_seconds",
                .gauge,
                unit: "seconds",
                "When this process started, in seconds since 1970.",
                [.init(startedAt.timeIntervalSince1970)]
            )
            return (metrics.text(in: .prometheus), MetricsText.Format.prometheus.mediaType)
        }
        logger.info("serving metrics", metadata: ["url": "http://\(server.address)/metrics"])
    }
}
