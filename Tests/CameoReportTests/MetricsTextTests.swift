import CameoModel
import CameoReport
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

/// Metrics in both text formats.
@Suite(.timeLimit(.minutes(10)))
struct MetricsTextTests {
    private let metrics: MetricsText = {
        var metrics = MetricsText()
        metrics.add("a_build", .info, "A version.", [.init(1, ["version": "a\"b\\c\nd"])])
        metrics.add("a_job", .counter, "Jobs.", [.init(3, ["queue": "x"]), .init(1.5, ["queue": "y"])])
        metrics.add("a_size_bytes", .gauge, "A size.", [.init(0)])
        metrics.add(
            "a_time_seconds",
            .histogram,
            "A time.",
            MetricsText.histogram([(0.005, 2), (1, 3)], sum: 4.25, count: 4, ["stage": "fetch"])
        )
        return metrics
    }()

    private let histogram = """
        a_time_seconds_bucket{stage="fetch",le="0.005"} 2
        a_time_seconds_bucket{stage="fetch",le="1.0"} 3
        a_time_seconds_bucket{stage="fetch",le="+Inf"} 4
        a_time_seconds_sum{stage="fetch"} 4.25
        a_time_seconds_count{stage="fetch"} 4
        """

    @Test func openMetricsHasUnitsAndAnEnd() {
        #expect(
            metrics.text(in: .openMetrics) == """
                # TYPE a_build info
                # HELP a_build A version.
                a_build_info{version="a\\"b\\\\c\\nd"} 1
                # TYPE a_job counter
                # HELP a_job Jobs.
                a_job_total{queue="x"} 3
                a_job_total{queue="y"} 1.5
                # TYPE a_size_bytes gauge
                # UNIT a_size_bytes bytes
                # HELP a_size_bytes A size.
                a_size_bytes 0
                # TYPE a_time_seconds histogram
                # UNIT a_time_seconds seconds
                # HELP a_time_seconds A time.
                \(histogram)
                # EOF

                """
        )
    }

    @Test func prometheusFamiliesAreNamedAsTheirSamples() {
        #expect(
            metrics.text(in: .prometheus) == """
                # HELP a_build_info A version.
                # TYPE a_build_info gauge
                a_build_info{version="a\\"b\\\\c\\nd"} 1
                # HELP a_job_total Jobs.
                # TYPE a_job_total counter
                a_job_total{queue="x"} 3
                a_job_total{queue="y"} 1.5
                # HELP a_size_bytes A size.
                # TYPE a_size_bytes gauge
                a_size_bytes 0
                # HELP a_time_seconds A time.
                # TYPE a_time_seconds histogram
                \(histogram)

                """
        )
    }
}

/// The metrics of a store.
@Suite(.timeLimit(.minutes(10)))
struct StoreMetricsTests {
    private let bench: ReportBench

    init() async throws {
        bench = try await ReportBench()
        _ = try await bench.complete("file:///pictures/a.jpg")
        var counted = StoreCounters()
        counted.add(3, to: .thumbnails)
        for milliseconds in [7, 700, 70_000_000] { counted.add(milliseconds: milliseconds, to: .render) }
        try await bench.store.extendLease(of: "w1", adding: counted)
    }

    /// Python's `prometheus_client` is strict about names, units, labels and histograms.
    @Test(arguments: [
        (MetricsText.Format.openMetrics, "prometheus_client.openmetrics.parser"),
        (.prometheus, "prometheus_client.parser"),
    ])
    func pythonReadsIt(format: MetricsText.Format, parser: String) async throws {
        let text = try await MetricsText(of: bench.store, by: "test").text(in: format)
        let script = """
            import sys
            from \(parser) import text_string_to_metric_families
            for family in text_string_to_metric_families(sys.stdin.read()):
                for sample in family.samples:
                    print(sample.name, ",".join(sample.labels.values()), float(sample.value))
            """
        let result = try await run("/usr/bin/python3", ["-c", script], input: Data(text.utf8))
        #expect(result.exitStatus == 0, "\(result.errorText)")
        let lines = result.outputText.split(separator: "\n")
        for line in [
            "cameo_jobs_ended_total default,completed 1.0", "cameo_jobs_ended_total default,discarded 0.0",
            "cameo_failures_total worker.lost,discarded 0.0", "cameo_thumbnails_made_total  3.0",
            "cameo_stage_duration_seconds_bucket render,0.01 1.0",
            "cameo_stage_duration_seconds_bucket render,1.0 2.0",
            "cameo_stage_duration_seconds_bucket render,+Inf 3.0", "cameo_stage_duration_seconds_count render 3.0",
            "cameo_stage_duration_seconds_sum render 70000.707", "cameo_workers alive 1.0",
        ] {
            #expect(lines.contains { $0 == line }, "\(line) is not in \(result.outputText)")
        }
    }

    /// Alerts and the dashboard in `deploy/monitoring` name only metrics that exist.
    @Test(arguments: ["cameo.rules.yml", "grafana-dashboard.json"])
    func monitoringAsksForWhatThereIs(file: String) async throws {
        let text = try String(contentsOf: Repository.file("deploy/monitoring/\(file)"), encoding: .utf8)
        try await bench.giveUpADelivery(to: "site")
        try await bench.sql(
            """
            INSERT INTO attachment(name, target, target_name, picture, key_column, kind, base, root, queue, renditions, trouble)
            VALUES ('users.picture', 'users', 'users', 'picture', 'id', 'url', '', '', 'default', '[]', 'gone')
            """
        )
        let metrics = try await MetricsText(of: bench.store, by: "test").text(in: .prometheus)
        // The last is of cameo-web alone.
        let known = Set(
            metrics.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.prefix { $0 != "{" && $0 != " " } }
        ).union(["cameo_store_up"])
        let used = Set(text.matches(of: #/\bcameo_[a-z_]+/#).map(\.output))
        #expect(used.count >= 8)
        #expect(used.subtracting(known).isEmpty)
    }

    @Test func thePageListsEveryMetric() async throws {
        let metrics = try await MetricsText(of: bench.store, by: "test").text(in: .prometheus)
        let names = metrics.matches(of: #/(?m)^# TYPE (\S+)/#).map { String($0.output.1) }
        let page = try Page.article("Operating").prose
        #expect(names.count > 25)
        #expect(names.filter { !page.contains("`\($0)`") } == [])
    }

    @Test func tenantsThatCostMostAreNamed() async throws {
        #expect(try await !MetricsText(of: bench.store, by: "test").text(in: .prometheus).contains("cameo_tenant"))
        try await bench.store.setFair(true, queue: "default", unknown: .created)
        for number in 0..<23 {
            var request = Fixture.request("file:///pictures/\(number).jpg")
            request.tenant = number == 22 ? "other" : "t\(number)"
            _ = try await bench.store.enqueue([request])
        }
        let text = try await MetricsText(of: bench.store, by: "test").text(in: .prometheus)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("cameo_tenant_jobs{") && $0.contains("waiting") }
        #expect(lines.count == 21)
        #expect(lines.last == #"cameo_tenant_jobs{queue="default",tenant="other",state="waiting"} 3"#)
        #expect(text.contains(#"cameo_tenant_processor_seconds_total{queue="default",tenant="other"} 0"#))
        let page = try Page.article("Operating").prose
        #expect(page.contains("`cameo_tenant_processor_seconds_total`") && page.contains("`cameo_tenant_jobs`"))
    }

    /// A file of metrics tells its age; and a worker that the store hinders is not like any other.
    @Test func metricsTellTheirAgeAndWhoWaits() async throws {
        try await bench.store.extendLease(
            of: "w1",
            adding: StoreCounters(),
            WorkerProgress(trouble: .init(reason: "the disk is full", since: bench.clock.now))
        )
        let lines = try await MetricsText(of: bench.store, by: "test").text(in: .prometheus).split(separator: "\n")
        let at = Int(bench.clock.now.timeIntervalSince1970)
        #expect(lines.contains("cameo_written_timestamp_seconds \(at)") && lines.contains("cameo_workers_hindered 1"))
        #expect(lines.contains("cameo_workers_not_removing 0"))
    }

    @Test func metricsTellWhatIsKeptAndWhatWasNotDelivered() async throws {
        try await bench.giveUpADelivery(to: "site")
        let trouble = StatusReport.Worker.Trouble(reason: "no", since: bench.clock.now, blocksJobs: false)
        try await bench.store.extendLease(of: "w1", adding: StoreCounters(), WorkerProgress(trouble: trouble))
        let lines = try await MetricsText(of: bench.store, by: "test").text(in: .prometheus).split(separator: "\n")
        #expect(lines.contains("cameo_hook_deliveries_failed{hook=\"site\"} 1"))
        #expect(lines.contains("cameo_workers_hindered 0") && lines.contains("cameo_workers_not_removing 1"))
    }
}
