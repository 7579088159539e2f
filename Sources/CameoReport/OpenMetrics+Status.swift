package import CameoModel

extension OpenMetrics {
    /// Of a store at one moment: gauges, but for what the store counts over its whole life, as `changes` of jobs' states.
    package mutating func add(_ report: StatusReport, changes: Int64) {
        add("cameo_store_schema_version", .gauge, "Version of the store's tables.", [Sample(report.schemaVersion)])
        add(
            "cameo_jobs",
            .gauge,
            "Jobs in the store by queue and state; those that retention has removed are not counted.",
            report.queues.flatMap { queue in
                JobState.allCases.map { state in
                    Sample(queue.jobs[state] ?? 0, ["queue": queue.name, "state": state.rawValue])
                }
            }
        )
        add(
            "cameo_job_changes",
            .counter,
            "Changes of jobs' states since the store was made.",
            [Sample(Int(changes))]
        )
        add(
            "cameo_queue_oldest_waiting_seconds",
            .gauge,
            unit: "seconds",
            "How long the longest-waiting job of a queue has been due; 0 when none waits.",
            report.queues.map { Sample($0.oldestWaitingSeconds ?? 0, ["queue": $0.name]) }
        )
        add(
            "cameo_queue_paused",
            .gauge,
            "1 while an operator keeps a queue's jobs from the workers.",
            report.queues.map { Sample($0.paused ? 1 : 0, ["queue": $0.name]) }
        )
        let finished = report.finishedLastMinute
        add(
            "cameo_jobs_finished_last_minute",
            .gauge,
            "Jobs that ended during the last minute.",
            [
                Sample(finished.completed, ["outcome": "completed"]),
                Sample(finished.discarded, ["outcome": "discarded"]),
            ]
        )
        addWorkers(report.workers)
        addBytes(report)
    }

    private mutating func addWorkers(_ workers: [StatusReport.Worker]) {
        let alive = workers.filter(\.isAlive)
        add(
            "cameo_workers",
            .gauge,
            "Workers that have entered the store and not left it.",
            [
                Sample(alive.count, ["state": "alive"]),
                Sample(workers.count - alive.count, ["state": "dead"]),
            ]
        )
        add(
            "cameo_worker_jobs_running",
            .gauge,
            "Jobs that the workers hold.",
            [Sample(workers.reduce(0) { $0 + $1.running })]
        )
        add(
            "cameo_worker_jobs_limit",
            .gauge,
            "Jobs that the live workers may hold at once.",
            [Sample(alive.reduce(0) { $0 + $1.concurrency })]
        )
    }

    private mutating func addBytes(_ report: StatusReport) {
        add("cameo_thumbnails", .gauge, "Thumbnails that exist.", [Sample(report.thumbnails)])
        add("cameo_blobs", .gauge, "Pictures and thumbnails as bytes.", [Sample(report.blobs.count)])
        add("cameo_blob_bytes", .gauge, unit: "bytes", "Bytes of all blobs.", [Sample(report.blobs.bytes)])
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
            "Originals that were removed since the store was made, because the cache was over its budget.",
            [Sample(report.sources.evicted)]
        )
        add(
            "cameo_cached_sources_evicted_bytes",
            .counter,
            unit: "bytes",
            "Their bytes.",
            [Sample(report.sources.evictedBytes)]
        )
    }
}
