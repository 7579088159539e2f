internal import CameoModel
package import CameoStore
package import Foundation

// DESIGN. Families one after another, each with its type and help before its samples, in two formats that differ in
// little. OpenMetrics 1.0 (https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md) also has
// units and `info`, names families of counters without `_total`, and ends with `# EOF`. The older text format of
// Prometheus (0.0.4) is all that node_exporter's textfile collector and `promtool check metrics` read. Sample names and
// labels are the same in both.

/// Numbers as Prometheus and compatible systems collect them.
package struct MetricsText: Sendable {
    package enum Format: Sendable {
        case openMetrics, prometheus

        package var mediaType: String {
            switch self {
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            }
        }
    }

    package enum Kind: String, Sendable {
        /// Never decreases.
        case counter
        case gauge
        /// Always 1; the labels hold the information.
        case info
        case histogram

        fileprivate var ending: String {
            switch self {
            case .counter: "_total"
            case .info: "_info"
            case .gauge, .histogram: ""
            }
        }
    }

    /// One number of a family.
    package struct Sample: Sendable {
        fileprivate var ending = ""
        fileprivate var labels: [(name: String, value: String)]
        fileprivate let value: Double

        package init(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
            self.value = value
            self.labels = labels.map { ($0.key, $0.value) }
        }

        package init(_ value: Int, _ labels: KeyValuePairs<String, String> = [:]) {
            self.init(Double(value), labels)
        }
    }

    private struct Family: Sendable {
        let name: String
        let kind: Kind
        let help: String
        let samples: [Sample]
        /// When its counters were 0, in seconds since 1970.
        let created: Double?

        var unit: String? { ["bytes", "seconds"].first { name.hasSuffix("_\($0)") } }
    }

    private var families: [Family] = []
    /// When the counters that are added were 0; nil: not known.
    package var countersSince: Date?

    package init() {}

    /// Adds a family. Its name has no `_total` or `_info`, and ends with the unit, `bytes` or `seconds`, if there is one;
    /// `help` is one sentence.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        let created = [.counter, .histogram].contains(kind) ? countersSince?.timeIntervalSince1970 : nil
        families.append(Family(name: name, kind: kind, help: help, samples: samples, created: created))
    }

    /// Adds a family of a single number.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ number: Int) {
        add(name, kind, help, [Sample(number)])
    }

    /// The samples of a histogram: a bucket for each upper bound, the sum and the count.
    package static func histogram(
        _ buckets: [(bound: Double, count: Int)],
        sum: Double,
        count: Int,
        _ labels: KeyValuePairs<String, String>
    ) -> [Sample] {
        func sample(_ ending: String, _ value: Double, _ bound: String? = nil) -> Sample {
            var sample = Sample(value, labels)
            sample.ending = ending
            if let bound { sample.labels.append(("le", bound)) }
            return sample
        }
        // OpenMetrics writes bounds as floating point numbers: 1.0.
        return buckets.map { sample("_bucket", Double($0.count), String($0.bound)) } + [
            sample("_bucket", Double(count), "+Inf"), sample("_sum", sum), sample("_count", Double(count)),
        ]
    }

    /// The whole document.
    package func text(in format: Format) -> String {
        var text = ""
        func append(_ name: String, _ labels: [(name: String, value: String)], _ value: Double) {
            text += name
            for (index, label) in labels.enumerated() {
                text += index == 0 ? "{" : ","
                text += label.name
                text += "=\""
                text += Self.escaped(label.value)
                text += index == labels.count - 1 ? "\"}" : "\""
            }
            text += " \(Self.text(of: value))\n"
        }
        for family in families {
            let (name, kind) = (family.name, family.kind)
            let start = name + kind.ending
            switch format {
            case .openMetrics:
                text += "# TYPE \(name) \(kind.rawValue)\n"
                if let unit = family.unit { text += "# UNIT \(name) \(unit)\n" }
                text += "# HELP \(name) \(Self.escaped(family.help))\n"
            case .prometheus:
                text += "# HELP \(start) \(family.help)\n"
                text += "# TYPE \(start) \((kind == .info ? Kind.gauge : kind).rawValue)\n"
            }
            // There are as many as queues, ten times over.
            for sample in family.samples {
                append(start + sample.ending, sample.labels, sample.value)
                if format == .openMetrics, let created = family.created, ["", "_count"].contains(sample.ending) {
                    append("\(name)_created", sample.labels, created)
                }
            }
        }
        return format == .openMetrics ? text + "# EOF\n" : text
    }

    private static func text(of value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
    }

    private static let escapes: [Unicode.Scalar: String] = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"]

    private static func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { [0x5C, 0x22, 0x0A].contains($0) }) else { return text }
        return text.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }

    /// The metrics of a store, as `program`, the name of a command, reports them.
    package init(of store: any ReaderStore, by program: String) async throws(StoreError) {
        self.init()
        let build = Sample(1, ["program": program, "version": CameoVersion.current])
        add("cameo_build", .info, "The version of the program that reports.", [build])
        // The status numbers the changes, which the metrics count.
        let (status, metrics) = (try await store.status(), try await store.metrics())
        countersSince = metrics.counters.since
        add(metrics.counters, queues: status.queues.map(\.name))
        add(status, metrics)
        guard status.queues.contains(where: { $0.fair == true }) else { return }
        add(try await store.tenants(TenantChoice(order: .mostSpent, limit: 20, ofFairQueues: true)), of: status.queues)
    }

    /// The tenants of fair queues that cost most. The others of a queue, and jobs without one, count together.
    private mutating func add(_ list: TenantList, of queues: [StatusReport.Queue]) {
        var (seconds, jobs): ([Sample], [Sample]) = ([], [])
        for queue in queues where queue.fair == true {
            let named = list.tenants.filter { $0.queue == queue.name && $0.tenant != "other" }
            func add(_ name: String, _ spent: Double, _ waiting: Int, _ running: Int) {
                seconds.append(Sample(max(0, spent), ["queue": queue.name, "tenant": name]))
                for (state, count) in [("waiting", waiting), ("running", running)] {
                    jobs.append(Sample(max(0, count), ["queue": queue.name, "tenant": name, "state": state]))
                }
            }
            for tenant in named { add(tenant.tenant, tenant.cpuSeconds, tenant.waiting, tenant.running) }
            add(
                "other",
                named.reduce(list.cpuSeconds[queue.name] ?? 0) { $0 - $1.cpuSeconds },
                named.reduce(queue.jobs[.available] ?? 0) { $0 - $1.waiting },
                named.reduce(queue.jobs[.running] ?? 0) { $0 - $1.running }
            )
        }
        let most = "of fair queues, by tenant; the twenty that cost most, the rest as other."
        add("cameo_tenant_processor_seconds", .counter, "Time of processors \(most)", seconds)
        add("cameo_tenant_jobs", .gauge, "Jobs \(most)", jobs)
    }

    // MARK: - Counters over the life of the store

    private mutating func add(_ counters: StoreCounters, queues: [String]) {
        let ended: [Sample] = JobState.allCases.flatMap { state in
            (StoreCounters.Family(rawValue: state.rawValue).map { counters.all($0, labels: queues) } ?? [])
                .map { Sample($0.value, ["queue": $0.label, "outcome": state.rawValue]) }
        }
        add("cameo_jobs_ended", .counter, "Jobs that ended, by queue and outcome.", ended)
        let failed: [Sample] = [(StoreCounters.Family.retriedFailures, "retried"), (.finalFailures, "discarded")]
            .flatMap { family, end in
                counters.all(family).map { Sample($0.value, ["code": $0.label, "outcome": end]) }
            }
        add("cameo_failures", .counter, "Failures by code; a retried failure has not ended its job.", failed)
        func each(_ family: StoreCounters.Family, by label: String) -> [Sample] {
            counters.all(family).map { Sample($0.value, [label: $0.label]) }
        }
        add("cameo_attempts", .counter, "Attempts, by how they ended.", each(.attempts, by: "outcome"))
        add("cameo_sources", .counter, "Sources that arrived, by where they came from.", each(.sources, by: "from"))
        let bytes = "Bytes of sources and their overlays, by where the source came from."
        add("cameo_source_bytes", .counter, bytes, each(.sourceBytes, by: "from"))
        add("cameo_thumbnails_made", .counter, "Thumbnails made.", counters[.thumbnails])
        add("cameo_thumbnails_made_bytes", .counter, "Bytes of the thumbnails made.", counters[.thumbnailBytes])
        add("cameo_renderers_started", .counter, "Renderers started.", counters[.renderersStarted])
        let collided = "Transactions that a database ran again because they collided with another process's."
        add("cameo_transactions_collided", .counter, collided, counters[.collisions])
        add("cameo_renderers_ended", .counter, "Renderers ended.", each(.renderersEnded, by: "reason"))
        add(
            "cameo_stage_duration_seconds",
            .histogram,
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

    // MARK: - The store at this moment

    private mutating func add(_ report: StatusReport, _ metrics: StoreMetrics) {
        let written =
            "When these metrics were taken, in seconds since 1970: a file of them that is old says nothing any more."
        add("cameo_written_timestamp_seconds", .gauge, written, [Sample(report.generatedAt.timeIntervalSince1970)])
        add("cameo_store_schema_version", .gauge, "The version of the store's tables.", report.schemaVersion)
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
        add("cameo_job_changes", .counter, "Changes of jobs' states.", metrics.counters[.changes])
        func each(_ number: (StatusReport.Queue) -> Double) -> [Sample] {
            report.queues.map { Sample(number($0), ["queue": $0.name]) }
        }
        let oldest = "How long the longest-waiting job of a queue has been due; 0 if none waits."
        add("cameo_queue_oldest_waiting_seconds", .gauge, oldest, each { $0.oldestWaitingSeconds ?? 0 })
        add("cameo_queue_paused", .gauge, "1 while a queue is paused.", each { $0.paused ? 1 : 0 })
        let background = "1 for a background queue, whose jobs give way to those of other queues."
        add("cameo_queue_background", .gauge, background, each { $0.isBackground ? 1 : 0 })
        let workers = report.workers
        let alive = workers.filter(\.isAlive)
        let states = [(alive.count, "alive"), (workers.count - alive.count, "dead")].map { Sample($0, ["state": $1]) }
        add("cameo_workers", .gauge, "Workers that are alive, and dead ones whose jobs are not yet rescued.", states)
        let hindered = "Live workers that the store keeps from claiming jobs or from recording their ends."
        add("cameo_workers_hindered", .gauge, hindered, alive.count { !$0.isUnhindered })
        let keeping = "Live workers that cannot remove what has expired."
        add("cameo_workers_not_removing", .gauge, keeping, alive.count { $0.trouble != nil && $0.isUnhindered })
        let failed = "Deliveries to a hook that were given up."
        let undelivered = (report.undelivered ?? []).map { Sample($0.count, ["hook": $0.hook]) }
        add("cameo_hook_deliveries_failed", .gauge, failed, undelivered)
        let unfollowed = (report.unfollowed ?? []).map { Sample(1, ["attachment": $0.name]) }
        add("cameo_attachments_not_followed", .gauge, "Attached columns whose rows are not followed.", unfollowed)
        let (running, limit) = (workers.reduce(0) { $0 + $1.running }, alive.reduce(0) { $0 + $1.concurrency })
        add("cameo_worker_jobs_running", .gauge, "Jobs that the workers run.", running)
        add("cameo_worker_jobs_limit", .gauge, "Jobs that the live workers may run at once.", limit)
        add("cameo_renderers", .gauge, "Pictures that the live workers may render at once.", metrics.renderers)
        add("cameo_thumbnails", .gauge, "Thumbnails that exist.", report.thumbnails)
        add("cameo_blobs", .gauge, "Blobs: originals and thumbnails.", report.blobs.count)
        add("cameo_blob_bytes", .gauge, "Bytes of all blobs.", report.blobs.bytes)
        let database = "The size of the database, small blobs included, without its write-ahead log."
        add("cameo_database_bytes", .gauge, database, metrics.databaseBytes)
        if let free = metrics.freeBytes {
            add("cameo_store_free_bytes", .gauge, "Free bytes on the disk of a store that is a folder.", free)
        }
        add("cameo_cached_sources", .gauge, "Originals in the cache.", report.sources.count)
        add("cameo_cached_source_bytes", .gauge, "Bytes of the cached originals.", report.sources.bytes)
        let reason = "removed because the cache was over its budget."
        let (evicted, bytes) = (metrics.counters[.evicted], metrics.counters[.evictedBytes])
        add("cameo_cached_sources_evicted", .counter, "Originals \(reason)", evicted)
        add("cameo_cached_sources_evicted_bytes", .counter, "Bytes of the originals \(reason)", bytes)
    }
}
