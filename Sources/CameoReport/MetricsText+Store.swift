internal import CameoModel
package import CameoStore

extension MetricsText {
    /// The metrics of a store, as `program`, the name of a command, reports them.
    package init(of store: any ReaderStore & MetricsStore, by program: String) async throws(StoreError) {
        self.init()
        add(
            "cameo_build",
            .info,
            "The version of the program that reports.",
            [Sample(1, ["program": program, "version": CameoVersion.current])]
        )
        let (metrics, status) = (try await store.metrics(), try await store.status())
        add(metrics.counters, queues: status.queues.map(\.name))
        add(status, metrics, changes: try await store.lastChange())
    }

    // MARK: - Counters over the life of the store

    private mutating func add(_ counters: StoreCounters, queues: [String]) {
        add(
            "cameo_jobs_ended",
            .counter,
            "Jobs that ended, by queue and outcome.",
            JobState.allCases.flatMap { state in
                StoreCounters.Family(state).map { family in
                    counters.all(family, labels: queues).map {
                        Sample($0.value, ["queue": $0.label, "outcome": state.rawValue])
                    }
                } ?? []
            }
        )
        add(
            "cameo_failures",
            .counter,
            "Failures by code; a retried failure has not ended its job.",
            [(StoreCounters.Family.retriedFailures, "retried"), (.finalFailures, "discarded")].flatMap { family, end in
                counters.all(family).map { Sample($0.value, ["code": $0.label, "outcome": end]) }
            }
        )
        add("cameo_attempts", .counter, "Attempts, by how they ended.", counters, .attempts, by: "outcome")
        add("cameo_sources", .counter, "Sources that arrived, by where they came from.", counters, .sources, by: "from")
        add(
            "cameo_source_bytes",
            .counter,
            unit: "bytes",
            "Bytes of sources and their overlays, by where the source came from.",
            counters,
            .sourceBytes,
            by: "from"
        )
        add("cameo_thumbnails_made", .counter, "Thumbnails made.", [Sample(counters[.thumbnails])])
        add(
            "cameo_thumbnails_made_bytes",
            .counter,
            unit: "bytes",
            "Bytes of the thumbnails made.",
            [Sample(counters[.thumbnailBytes])]
        )
        add("cameo_renderers_started", .counter, "Renderers started.", [Sample(counters[.renderersStarted])])
        add(
            "cameo_transactions_collided",
            .counter,
            "Transactions that a database ran again because they collided with another process's.",
            [Sample(counters[.collisions])]
        )
        add("cameo_renderers_ended", .counter, "Renderers ended.", counters, .renderersEnded, by: "reason")
        add(
            "cameo_stage_duration_seconds",
            .histogram,
            unit: "seconds",
            "Durations of the stages of a job: waiting for a worker, fetching, queueing for a renderer, rendering, storing.",
            StoreCounters.Stage.allCases.flatMap { stage in
                let histogram = counters.histogram(of: stage)
                return Self.histogram(
                    zip(StoreCounters.bounds, histogram.upTo).map { (Double($0) / 1_000, $1) },
                    sum: Double(histogram.milliseconds) / 1_000,
                    count: histogram.count,
                    ["stage": stage.rawValue]
                )
            }
        )
    }

    /// Adds a family with one label.
    private mutating func add(
        _ name: String,
        _ kind: Kind,
        unit: String? = nil,
        _ help: String,
        _ counters: StoreCounters,
        _ family: StoreCounters.Family,
        by label: String
    ) {
        add(name, kind, unit: unit, help, counters.all(family).map { Sample($0.value, [label: $0.label]) })
    }

    // MARK: - The store at this moment

    private mutating func add(_ report: StatusReport, _ metrics: StoreMetrics, changes: Int64) {
        add("cameo_store_schema_version", .gauge, "The version of the store's tables.", [Sample(report.schemaVersion)])
        add(
            "cameo_jobs",
            .gauge,
            "Jobs in the store by queue and state, without those that retention has removed.",
            report.queues.flatMap { queue in
                JobState.allCases.map { state in
                    Sample(queue.jobs[state] ?? 0, ["queue": queue.name, "state": state.rawValue])
                }
            }
        )
        add("cameo_job_changes", .counter, "Changes of jobs' states.", [Sample(Int(changes))])
        add(
            "cameo_queue_oldest_waiting_seconds",
            .gauge,
            unit: "seconds",
            "How long the longest-waiting job of a queue has been due; 0 if none waits.",
            report.queues.map { Sample($0.oldestWaitingSeconds ?? 0, ["queue": $0.name]) }
        )
        add(
            "cameo_queue_paused",
            .gauge,
            "1 while a queue is paused.",
            report.queues.map { Sample($0.paused ? 1 : 0, ["queue": $0.name]) }
        )
        add(
            "cameo_queue_background",
            .gauge,
            "1 for a background queue, whose jobs give way to those of other queues.",
            report.queues.map { Sample($0.isBackground ? 1 : 0, ["queue": $0.name]) }
        )
        addWorkers(report.workers, renderers: metrics.renderers)
        addBytes(report, metrics)
    }

    private mutating func addWorkers(_ workers: [StatusReport.Worker], renderers: Int) {
        let alive = workers.filter(\.isAlive)
        add(
            "cameo_workers",
            .gauge,
            "Workers that are alive, and dead ones whose jobs are not yet rescued.",
            [
                Sample(alive.count, ["state": "alive"]),
                Sample(workers.count - alive.count, ["state": "dead"]),
            ]
        )
        add(
            "cameo_worker_jobs_running",
            .gauge,
            "Jobs that the workers run.",
            [Sample(workers.reduce(0) { $0 + $1.running })]
        )
        add(
            "cameo_worker_jobs_limit",
            .gauge,
            "Jobs that the live workers may run at once.",
            [Sample(alive.reduce(0) { $0 + $1.concurrency })]
        )
        add("cameo_renderers", .gauge, "Pictures that the live workers may render at once.", [Sample(renderers)])
    }

    private mutating func addBytes(_ report: StatusReport, _ metrics: StoreMetrics) {
        add("cameo_thumbnails", .gauge, "Thumbnails that exist.", [Sample(report.thumbnails)])
        add("cameo_blobs", .gauge, "Blobs: originals and thumbnails.", [Sample(report.blobs.count)])
        add("cameo_blob_bytes", .gauge, unit: "bytes", "Bytes of all blobs.", [Sample(report.blobs.bytes)])
        add(
            "cameo_database_bytes",
            .gauge,
            unit: "bytes",
            "The size of the database, small blobs included, without its write-ahead log.",
            [Sample(metrics.databaseBytes)]
        )
        add("cameo_cached_sources", .gauge, "Originals in the cache.", [Sample(report.sources.count)])
        add(
            "cameo_cached_source_bytes",
            .gauge,
            unit: "bytes",
            "Bytes of the cached originals.",
            [Sample(report.sources.bytes)]
        )
        add(
            "cameo_cached_sources_evicted",
            .counter,
            "Originals removed because the cache was over its budget.",
            [Sample(report.sources.evicted)]
        )
        add(
            "cameo_cached_sources_evicted_bytes",
            .counter,
            unit: "bytes",
            "Bytes of the originals removed because the cache was over its budget.",
            [Sample(report.sources.evictedBytes)]
        )
    }
}
