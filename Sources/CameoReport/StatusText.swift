package import CameoModel
internal import Foundation

/// A status report, for people to read on a terminal.
package struct StatusText {
    /// The most queues, workers and running jobs of a worker that are shown. A status is to fit on a screen; a program reads
    /// the JSON.
    private static let most = (queues: 8, workers: 6, jobs: 2, standstills: 2)
    /// The most columns of a reason or source.
    private static let longest = 100
    private static let indent = 10

    private let columns: Int?
    private let style: TextStyle
    private let escape: (String) -> String

    /// `columns` is the terminal's width, nil for no limit. `escape` makes text from outside safe to show.
    package init(columns: Int? = nil, style: TextStyle = .plain, escape: @escaping (String) -> String) {
        self.columns = columns
        self.style = style
        self.escape = escape
    }

    /// The lines of the report.
    package func lines(_ report: StatusReport) -> [String] {
        jobs(report) + times(report) + queues(report) + workers(report) + failures(report) + sizes(report)
    }

    /// The report in one line without names, for a log.
    package func line(_ report: StatusReport) -> String {
        let counts = JobState.allCases.map { "\(report.count($0)) \($0.rawValue)" }
        let rate = report.throughput.first.map { [self.rate($0)] } ?? []
        return ([WireFormat.text(of: report.generatedAt)] + counts + rate + waiting(report)).joined(separator: "  ")
    }

    private func jobs(_ report: StatusReport) -> [String] {
        func counts(_ states: [JobState]) -> String {
            states.map { "\(report.count($0)) \($0.rawValue)" }.joined(separator: ", ")
        }
        var lines = [
            labelled("jobs", counts([.available, .running, .retryable, .scheduled])),
            labelled("", counts([.completed, .discarded, .cancelled])),
        ]
        let waiting = waiting(report)
        if !waiting.isEmpty { lines.append(labelled("", waiting.joined(separator: ", "))) }
        return lines
    }

    private func waiting(_ report: StatusReport) -> [String] {
        let oldest = report.queues.compactMap(\.oldestWaitingSeconds).max()
        return [
            oldest.map { "oldest waits \(AmountText.duration($0))" },
            report.etaSeconds.map { "about \(AmountText.duration($0)) left" },
        ].compactMap { $0 }
    }

    private func times(_ report: StatusReport) -> [String] {
        let counts = report.throughput.map { "\($0.completed + $0.discarded) in \($0.minutes) min" }
        // Of the shortest period in which one has ended.
        let pace = report.throughput.first { $0.completed + $0.discarded > 0 }.map {
            ", \(rate($0)) while there was work"
        }
        let finished = report.finishedLastMinute
        var lines = [
            labelled("ended", counts.joined(separator: ", ") + (pace ?? "")),
            labelled("", "last minute: \(finished.completed) completed, \(finished.discarded) discarded"),
        ]
        let stages = report.stages
        guard !stages.isEmpty else { return lines }
        func times(_ milliseconds: (StatusReport.StageTimes) -> Int) -> String {
            stages.map { "\($0.stage.rawValue) \(AmountText.duration(Double(milliseconds($0)) / 1_000))" }
                .joined(separator: ", ")
        }
        lines.append(labelled("p50", times(\.p50)))
        lines.append(labelled("p95", times(\.p95)))
        return lines
    }

    private func rate(_ throughput: StatusReport.Throughput) -> String {
        let perSecond = throughput.perSecond
        return perSecond < 1 ? "\(AmountText.rate(perSecond * 60))/min" : "\(AmountText.rate(perSecond))/s"
    }

    private func queues(_ report: StatusReport) -> [String] {
        guard !report.queues.isEmpty else { return [labelled("queues", "none yet")] }
        var table = TextTable(
            .text("QUEUE"),
            .number("AVAILABLE"),
            .number("RUNNING"),
            .number("RETRYABLE"),
            .number("SCHEDULED"),
            .number("OLDEST"),
            .text("LIMITS")
        )
        // Sorted by name; the fullest of them if not all are shown.
        let isAll = report.queues.count <= Self.most.queues
        let fullest =
            isAll ? report.queues : report.queues.sorted { ($0.jobs[.available] ?? 0) > ($1.jobs[.available] ?? 0) }
        for queue in fullest.prefix(Self.most.queues) {
            let limits = [
                queue.paused ? "paused" : nil, queue.isBackground ? "background" : nil,
                queue.opensAt.map(QueueText.opening), queue.maxRunning.map { "runs at most \($0)" },
                queue.rate.map { "starts at most \($0)" },
            ]
            table.rows.append(
                [escape(queue.name)]
                    + [JobState.available, .running, .retryable, .scheduled].map { String(queue.jobs[$0] ?? 0) }
                    + [
                        queue.oldestWaitingSeconds.map(AmountText.duration) ?? "",
                        limits.compactMap { $0 }.joined(separator: ", "),
                    ]
            )
        }
        return headed(table) + rest(report.queues.count - Self.most.queues, "queue")
    }

    private func workers(_ report: StatusReport) -> [String] {
        guard !report.workers.isEmpty else {
            let line = labelled("workers", "none")
            return [report.count(.available) > 0 ? style.alarm(line) : line] + standstills(report)
        }
        var table = TextTable(.text("WORKER"), .text("HOST"), .number("PID"), .text("VERSION"), .text("JOBS"))
        let workers = report.workers.prefix(Self.most.workers)
        for worker in workers {
            table.rows.append([
                escape(worker.id), escape(worker.host), String(worker.pid), escape(worker.version),
                WorkerText.state(worker),
            ])
        }
        let lines = headed(table)
        var result = lines.prefix(1).map { $0 }
        for (worker, line) in zip(workers, lines.dropFirst()) {
            result.append(worker.isAlive ? line : style.alarm(line))
            for job in worker.current.prefix(Self.most.jobs) {
                let age = AmountText.duration(max(0, report.generatedAt.timeIntervalSince(job.since)))
                let source = short(job.source ?? "(no source)")
                result.append(style.faint(cut("  job \(job.id), for \(age): \(source)")))
            }
        }
        return result + rest(report.workers.count - Self.most.workers, "worker") + standstills(report)
    }

    private func standstills(_ report: StatusReport) -> [String] {
        report.standstills.prefix(Self.most.standstills).map { style.alarm(cut(labelled("", escape($0)))) }
    }

    private func failures(_ report: StatusReport) -> [String] {
        guard !report.failures.isEmpty else { return [] }
        var table = TextTable(.word("FAILURE"), .number("JOBS"), .number("SUCH AS"), .text("REASON"), .path("SOURCE"))
        for failure in report.failures {
            table.rows.append([
                failure.code.rawValue, String(failure.count), String(failure.example.id),
                short(failure.example.message), short(failure.example.source ?? "(no source)"),
            ])
        }
        return headed(table)
    }

    private func sizes(_ report: StatusReport) -> [String] {
        let size = AmountText.bytes(report.blobs.bytes)
        let evicted = report.sources.evicted > 0 ? " (\(report.sources.evicted) evicted so far)" : ""
        return [
            labelled(
                "store",
                "\(AmountText.count(report.thumbnails, "thumbnail")); \(AmountText.count(report.blobs.count, "blob")), \(size)"
            ),
            labelled(
                "",
                "source cache: \(AmountText.count(report.sources.count, "original")), "
                    + "\(AmountText.bytes(report.sources.bytes))\(evicted)"
            ),
        ]
    }

    private func labelled(_ label: String, _ text: String) -> String {
        let line = cut(label.padded(to: Self.indent) + text)
        guard !label.isEmpty else { return line }
        return style.heading(String(line.prefix(label.count))) + line.dropFirst(label.count)
    }

    private func headed(_ table: TextTable) -> [String] {
        let lines = table.lines(fitting: columns)
        return [style.heading(lines[0])] + lines.dropFirst()
    }

    private func rest(_ count: Int, _ noun: String) -> [String] {
        count > 0 ? [style.faint(cut("… and \(AmountText.count(count, noun)) more: cameo-status --json"))] : []
    }

    private func short(_ text: String) -> String { escape(text).cut(toColumns: Self.longest) }

    private func cut(_ line: String) -> String { columns.map { line.cut(toColumns: $0) } ?? line }
}
