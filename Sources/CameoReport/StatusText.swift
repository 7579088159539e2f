package import CameoModel
internal import Foundation

/// A status report, for people to read on a terminal.
package struct StatusText {
    /// The most queues, workers and running jobs of a worker that are shown. A status is to fit on a screen; a program reads
    /// the JSON.
    private static let most = (queues: 8, workers: 6, jobs: 2, standstills: 2, tenants: 10)
    /// The most columns of a reason or source.
    private static let longest = 100
    private static let indent = 10

    private let columns: Int?
    private let style: TextStyle
    private let escape: (String) -> String

    /// `columns` is the terminal's width, nil for no limit. `escape` makes text from outside safe to show.
    package init(columns: Int? = nil, style: TextStyle = .plain, escape: @escaping (String) -> String) {
        (self.columns, self.style, self.escape) = (columns, style, escape)
    }

    package func lines(_ report: StatusReport) -> [String] {
        jobs(report) + times(report) + queues(report) + workers(report) + failures(report) + hooks(report)
            + tenants(report) + unfollowed(report)
            + sizes(report)
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
        var table = TextTable(columns: [
            .text("QUEUE"), .number("AVAILABLE"), .number("RUNNING"), .number("RETRYABLE"), .number("SCHEDULED"),
            .number("OLDEST"), .text("LIMITS"),
        ])
        // Sorted by name; the fullest of them if not all are shown.
        let isAll = report.queues.count <= Self.most.queues
        let fullest =
            isAll ? report.queues : report.queues.sorted { ($0.jobs[.available] ?? 0) > ($1.jobs[.available] ?? 0) }
        for queue in fullest.prefix(Self.most.queues) {
            let limits = [
                queue.paused ? QueueText.paused(queue.pausedAt) : nil, queue.isBackground ? "background" : nil,
                queue.fair == true ? "fair" : nil, queue.opensAt.map(QueueText.opening),
                queue.maxRunning.map { "runs at most \($0)" },
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
        return table.lines(fitting: columns, style) + rest(report.queues.count - Self.most.queues, "queue")
    }

    /// The tenants that wait longest.
    private func tenants(_ report: StatusReport) -> [String] {
        guard let tenants = report.tenants else { return [] }
        var table = TextTable(columns: [
            .text("TENANT"), .text("QUEUE"), .number("WAITING"), .number("RUNNING"), .number("OLDEST"),
            .number("SHARE"),
            .number("WEIGHT"),
        ])
        let longest = tenants.sorted { $0.oldestWaitingSeconds ?? -1 > $1.oldestWaitingSeconds ?? -1 }
        for tenant in longest.prefix(Self.most.tenants) {
            table.rows.append([
                escape(tenant.tenant), escape(tenant.queue), String(tenant.waiting), String(tenant.running),
                tenant.oldestWaitingSeconds.map(AmountText.duration) ?? "", TenantText.share(tenant) ?? "",
                TenantText.number(tenant.weight),
            ])
        }
        return table.lines(fitting: columns, style)
    }

    private func workers(_ report: StatusReport) -> [String] {
        guard !report.workers.isEmpty else {
            let line = labelled("workers", "none")
            return [report.count(.available) > 0 ? style.alarm(line) : line] + standstills(report)
        }
        var table = TextTable(columns: [
            .text("WORKER"), .text("HOST"), .number("PID"), .text("VERSION"), .text("JOBS"),
        ])
        let workers = report.workers.prefix(Self.most.workers)
        for worker in workers {
            table.rows.append([
                escape(worker.id), escape(worker.host), String(worker.pid), escape(worker.version),
                WorkerText.state(worker),
            ])
        }
        let lines = table.lines(fitting: columns, style)
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
        report.standstills.prefix(Self.most.standstills).map { style.alarm(cut(labelled("", escape($0.text)))) }
    }

    private func failures(_ report: StatusReport) -> [String] {
        guard !report.failures.isEmpty else { return [] }
        var table = TextTable(columns: [
            .word("FAILURE"), .number("JOBS"), .number("SUCH AS"), .text("REASON"), .path("SOURCE"),
        ])
        for failure in report.failures {
            table.rows.append([
                failure.code.rawValue, String(failure.count), String(failure.example.id),
                short(JobList.reason(failure.example.message, of: failure.example.source)),
                short(failure.example.source ?? "(no source)"),
            ])
        }
        return table.lines(fitting: columns, style)
    }

    private func hooks(_ report: StatusReport) -> [String] {
        HookText.givenUp(report.undelivered).map { [style.alarm(cut("hooks".padded(to: Self.indent) + escape($0)))] }
            ?? []
    }

    private func unfollowed(_ report: StatusReport) -> [String] {
        AttachmentText.unfollowed(report.unfollowed)
            .map { [style.alarm(cut("tables".padded(to: Self.indent) + escape($0)))] } ?? []
    }

    private func sizes(_ report: StatusReport) -> [String] {
        let blobs = "\(AmountText.count(report.blobs.count, "blob")), \(AmountText.bytes(report.blobs.bytes))"
        let sources = report.sources
        let originals = "\(AmountText.count(sources.count, "original")), \(AmountText.bytes(sources.bytes))"
        let evicted = sources.evicted > 0 ? " (\(sources.evicted) evicted so far)" : ""
        return [
            labelled("store", "\(AmountText.count(report.thumbnails, "thumbnail")); \(blobs)"),
            labelled("", "source cache: \(originals)\(evicted)"),
        ]
    }

    private func labelled(_ label: String, _ text: String) -> String {
        let line = cut(label.padded(to: Self.indent) + text)
        guard !label.isEmpty else { return line }
        return style.heading(String(line.prefix(label.count))) + line.dropFirst(label.count)
    }

    private func rest(_ count: Int, _ noun: String) -> [String] {
        count > 0 ? [style.faint(cut("… and \(AmountText.count(count, noun)) more: cameo-status --json"))] : []
    }

    private func short(_ text: String) -> String { escape(text).cut(toColumns: Self.longest) }

    private func cut(_ line: String) -> String { columns.map { line.cut(toColumns: $0) } ?? line }
}

extension Standstill {
    /// The reason, and the command that helps.
    package var text: String {
        switch self {
        case .noWorker: "no worker runs: start cameo-worker"
        case .paused(let queue): "the queue \(queue) is paused: cameo-admin resume \(queue)"
        case .untaken(let queue): "no worker takes jobs of the queue \(queue): cameo-worker --queues \(queue)"
        }
    }
}

extension HealthReport {
    /// Judges a store by its status: so many `workers` must be alive and not about to end, and no due job of a queue that is
    /// neither paused nor a background queue may have waited longer than `maxLag`, where there is such a limit.
    package init(_ status: StatusReport, workers: Int, maxLag: Duration?) {
        var checks = [Self.workers(status, workers)]
        if let maxLag { checks.append(Self.lag(status, maxLag)) }
        if let seconds = status.commitWaitSeconds {
            let detail = "commits wait for a synchronous standby, for \(AmountText.duration(seconds)) now"
            checks.append(Check(name: .commits, isHealthy: false, detail: detail))
        }
        if let detail = HookText.givenUp(status.undelivered) {
            checks.append(Check(name: .hooks, isHealthy: false, detail: detail))
        }
        if let detail = AttachmentText.unfollowed(status.unfollowed) {
            checks.append(Check(name: .tables, isHealthy: false, detail: detail))
        }
        self.init(checks: checks)
    }

    private static func workers(_ status: StatusReport, _ wanted: Int) -> Check {
        let alive = status.workers.filter { $0.isAlive && $0.stopping == nil }
        let remarks = alive.flatMap { worker in
            [WorkerText.lacks(worker), worker.trouble?.text].compactMap { $0.map { "; \(worker.host) \($0)" } }
        }
        return Check(
            name: .workers,
            isHealthy: alive.count(where: \.isUnhindered) >= wanted,
            detail: "\(AmountText.count(alive.count, "worker")) alive, at least \(wanted) wanted"
                + Set(remarks).sorted().joined()
        )
    }

    private static func lag(_ status: StatusReport, _ limit: Duration) -> Check {
        let waiting = status.queues.filter { !$0.paused && !$0.isBackground && $0.oldestWaitingSeconds != nil }
        let limitText = AmountText.duration(limit / .seconds(1))
        guard let oldest = waiting.max(by: { $0.oldestWaitingSeconds ?? 0 < $1.oldestWaitingSeconds ?? 0 }),
            let seconds = oldest.oldestWaitingSeconds
        else {
            let rest =
                status.queues.contains { $0.oldestWaitingSeconds != nil } ? " but in paused and background queues" : ""
            return Check(name: .lag, isHealthy: true, detail: "no job waits\(rest), at most \(limitText) allowed")
        }
        return Check(
            name: .lag,
            isHealthy: seconds <= limit / .seconds(1),
            detail:
                "a job of the queue \(oldest.name) has waited \(AmountText.duration(seconds)), at most \(limitText) allowed"
        )
    }
}

/// A queue, for people to read on a terminal.
package enum QueueText {
    /// The queue in one line. `escape` makes text from outside safe to show.
    package static func line(_ queue: StatusReport.Queue, escape: (String) -> String) -> String {
        var parts = [JobState.available, .running, .retryable, .scheduled].map { state in
            "\(queue.jobs[state] ?? 0) \(state.rawValue)"
        }
        if let limit = queue.maxRunning { parts[1] += " of at most \(limit)" }
        if let seconds = queue.oldestWaitingSeconds { parts.append("oldest waits \(AmountText.duration(seconds))") }
        if let rate = queue.rate { parts.append("starts at most \(rate)") }
        if queue.isBackground { parts.append("background") }
        if queue.fair == true { parts.append("fair") }
        if let time = queue.opensAt { parts.append(opening(time)) }
        if queue.paused { parts.append(paused(queue.pausedAt)) }
        return escape(queue.name).padded(to: 12) + " " + parts.joined(separator: ", ")
    }

    /// That a queue is paused, and since when if that is known.
    static func paused(_ since: Date?) -> String {
        since.map { "paused since \(WireFormat.text(of: $0))" } ?? "paused"
    }

    /// That a queue waits for quiet hours, and until when.
    static func opening(_ time: Date) -> String { "waits for quiet hours until \(WireFormat.text(of: time))" }
}

/// A tenant, for people to read on a terminal.
package enum TenantText {
    package static func line(_ tenant: StatusReport.Tenant) -> String {
        let parts = [
            "\(tenant.waiting) waiting, \(tenant.running) running",
            tenant.oldestWaitingSeconds.map { "oldest waits \(AmountText.duration($0))" },
            share(tenant).map { "\($0) of the last minute" }, "weight \(TenantText.number(tenant.weight))",
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    /// A weight.
    package static func number(_ weight: Double) -> String { String(format: "%g", weight) }

    /// Its part of the last minute.
    static func share(_ tenant: StatusReport.Tenant) -> String? {
        tenant.share.map { "\(Int(($0 * 100).rounded())) %" }
    }
}

/// A worker, for people to read on a terminal.
package enum WorkerText {
    /// The worker in one line. `escape` makes text from outside safe to show.
    package static func line(_ worker: StatusReport.Worker, escape: (String) -> String) -> String {
        "\(escape(worker.id)) on \(escape(worker.host)) (pid \(worker.pid), \(worker.version)): \(state(worker))"
    }

    /// What the worker does, and how it was asked to end.
    static func state(_ worker: StatusReport.Worker) -> String {
        let state = worker.isAlive ? "runs \(worker.running) of \(worker.concurrency) jobs" : "dead"
        let fault = worker.timeZoneFault.map { " (\($0))" } ?? ""
        let quiet = worker.quietHours.map { ", background jobs \($0)\(fault)" } ?? ""
        let queues = worker.queues.map { ", of \($0.joined(separator: ", "))" } ?? ""
        let lacks = [lacks(worker), worker.trouble?.text].compactMap { $0.map { ", \($0)" } }.joined()
        switch worker.stopping {
        case .drain: return "\(state), was asked to finish and end"
        case .now: return "\(state), was asked to end now"
        case nil: return state + queues + quiet + lacks
        }
    }

    /// What the worker's host cannot do: `cannot write AVIF`. What a newer version reported is shown as it stands.
    static func lacks(_ worker: StatusReport.Worker) -> String? {
        worker.lacks.map { lacks in "cannot " + lacks.map { HostLack($0)?.activity ?? $0 }.joined(separator: ", ") }
    }
}

private enum AttachmentText {
    /// Why attached tables are not followed, with the command that helps; nil if all are.
    static func unfollowed(_ unfollowed: [StatusReport.Unfollowed]?) -> String? {
        guard let unfollowed, let first = unfollowed.first else { return nil }
        let more = unfollowed.count > 1 ? "; and \(unfollowed.count - 1) more" : ""
        return "\(first.name) is not followed: \(first.reason)\(more): cameo-admin attach --repair \(first.name)"
    }
}

/// The deliveries of a hook, for people to read on a terminal.
package enum HookText {
    /// `3 deliveries to site and 1 to shop were given up: …`, with the command that helps; nil if none were.
    static func givenUp(_ undelivered: [StatusReport.Undelivered]?) -> String? {
        guard let undelivered, !undelivered.isEmpty else { return nil }
        let parts = undelivered.prefix(3).enumerated().map { index, hook in
            let count = index == 0 ? AmountText.count(hook.count, "delivery", plural: "deliveries") : "\(hook.count)"
            return "\(count) to \(hook.hook)"
        }
        let more = undelivered.count > parts.count ? ", …" : ""
        return "\(parts.joined(separator: ", "))\(more) given up: cameo-status hooks"
    }

    /// The hook in one line, and one for each of its latest failures. `escape` makes text from outside safe to show.
    package static func lines(_ report: HookReport, escape: (String) -> String) -> [String] {
        var parts = ["\(report.waiting) waiting", "\(report.delivered) delivered", "\(report.failed) failed"]
        if report.running > 0 { parts.insert("\(report.running) running", at: 1) }
        if let seconds = report.oldestWaitingSeconds {
            parts.append("oldest waits \(AmountText.duration(seconds))")
        }
        if !report.isKnown, report.waiting > 0 { parts.append("no live worker knows this hook") }
        if !report.queues.isEmpty { parts.append("for the queues \(report.queues.joined(separator: ", "))") }
        if let trouble = report.trouble { parts.append("last trouble: \(trouble)") }
        return [escape(report.name).padded(to: 12) + " " + escape(parts.joined(separator: ", "))]
            + report.failures.map { failure in
                "  \(failure.id)  \(failure.job.map { "job \($0)" } ?? escape("batch \(failure.batch ?? "")")), given up after \(AmountText.count(failure.tries, "try", plural: "tries")): "
                    + escape(failure.reason)
            }
    }
}

/// Durations and amounts for people to read.
package enum AmountText {
    /// `850 ms`, `4.2 s`, `3 min`, `5 h`, `2 d`.
    package static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<1: "\(Int(seconds * 1_000)) ms"
        case ..<100: String(format: "%.1f s", seconds)
        case ..<7_200: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3_600)) h"
        default: "\(Int(seconds / 86_400)) d"
        }
    }

    /// `512 B`, `3.4 KiB`, `12.0 MiB`.
    package static func bytes(_ count: Int) -> String {
        var amount = Double(count)
        var unit = "B"
        for next in ["KiB", "MiB", "GiB", "TiB"] where amount >= 1_024 {
            amount /= 1_024
            unit = next
        }
        return unit == "B" ? "\(count) B" : String(format: "%.1f %@", amount, unit)
    }

    /// `3.4`. The caller adds the unit, as in `3.4/s`.
    package static func rate(_ rate: Double) -> String { String(format: "%.1f", rate) }

    /// `1 job`, `2 jobs`; `2 retries` if the plural is given.
    package static func count(_ count: Int, _ noun: String, plural: String? = nil) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }
}
