package import CameoModel
package import CameoStore
internal import Foundation

// DESIGN. What a status says of recent jobs comes from the newest rows of existing indexes, a bounded number of each, so
// that its cost does not depend on the number of jobs, and no job costs another write. The numbers of the change feed have
// no gaps, so that the changes of a period are counted by the numbers at its two ends; which of them are ends of jobs is
// counted if they are few, and otherwise estimated by samples.

/// The most changes of a period that are all counted: they are neighbours on a few pages.
private let countedChanges: Int64 = 3_000
/// The samples of more changes, each on a page of its own. A third of a busy store's changes are ends of jobs, so that their
/// estimate has a standard error of 6 %.
private let sampledChanges: Int64 = 500
/// The longest time between two changes that counts as work, in milliseconds.
private let longestGap: Int64 = 30_000

extension QueueTransaction {
    /// Every queue, sorted by name.
    fileprivate func queuesAlone() throws -> [StatusReport.Queue] {
        var arrivals = try arrivals()
        let states = JobState.allCases
        let rows = try query(
            """
            SELECT name, paused, max_running, rate_count, rate_period, hook, background, fair, CASE WHEN available > 0 THEN
              (SELECT min(due) FROM task \(dialect.indexed(by: "task_waiting"))
                WHERE task.queue = queue.id AND \(TaskRow.isAvailable)) END AS oldest,
              paused_at, \(states.map(\.rawValue).joined(separator: ", "))
            FROM queue JOIN \(dialect.queueCounts) AS counts ON counts.queue = queue.id
            """
        )
        func age(_ time: Int64?) -> Double? { time.map { max(0, Double(now) - Double($0)) / 1_000 } }
        var queues = try rows.map { row in
            let name: String = try row["name"]
            let more = arrivals.removeValue(forKey: ExactText(name))
            var jobs = more?.jobs ?? [:]
            for state in states { jobs[state, default: 0] += try row[state.rawValue] }
            let oldest: Int64? = try row["oldest"]
            var queue = StatusReport.Queue(name: name, jobs: jobs)
            queue.oldestWaitingSeconds = age([more?.oldest, oldest].compactMap { $0 }.min())
            queue.paused = try row["paused"]
            queue.maxRunning = try row["max_running"]
            queue.rate = try (row["rate_count"] as Int?)
                .map { try StartRate(count: $0, period: row["rate_period"]).description }
            queue.hook = try row["hook"]
            queue.background = try (row["background"] as Bool) ? true : nil
            queue.fair = try (row["fair"] as Bool) ? true : nil
            queue.pausedAt = try (row["paused_at"] as Int64?).map(Date.init(milliseconds:))
            return queue
        }
        queues += arrivals.map { name, waiting in
            var queue = StatusReport.Queue(name: name.text, jobs: waiting.jobs)
            queue.oldestWaitingSeconds = age(waiting.oldest)
            return queue
        }
        return queues.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The unaccepted jobs of each queue.
    private func arrivals() throws -> [ExactText: (jobs: [JobState: Int], oldest: Int64?)] {
        guard try hasArrivals() else { return [:] }
        let rows = try query(
            """
            SELECT queue, is_later, count(*) AS jobs, min(created_at) AS oldest FROM (
              SELECT coalesce(\(dialect.field("queue")), 'default') AS queue, created_at,
                \(dialect.dueByRequest) > CAST(?1 AS bigint) AS is_later
              FROM \(dialect.arrivedJobs)) AS arrived
            GROUP BY queue, is_later
            """,
            [now]
        )
        return try rows.reduce(into: [:]) { queues, row in
            let name = ExactText(try row["queue"])
            var queue = queues[name] ?? (jobs: [:], oldest: nil)
            if try row["is_later"] {
                queue.jobs[.scheduled] = try row["jobs"]
            } else {
                (queue.jobs[.available], queue.oldest) = try (row["jobs"], row["oldest"])
            }
            queues[name] = queue
        }
    }

    /// The counts that are kept of all rows.
    package func totals() throws -> [String: Int] {
        try query("SELECT name, value FROM \(dialect.totals)")
            .reduce(into: [:]) { totals, row in totals[try row["name"]] = try row["value"] }
    }

    package func status() throws -> StatusReport {
        let date = Date(milliseconds: now)
        let workers = try workers(only: nil)
        let queues = try queuesAlone().map { $0.waiting(for: workers, now: date) }
        let isWorking = queues.contains { ($0.jobs[.running] ?? 0) > 0 }
        let periods = try [1, 5, 15].map { try recentEnds(minutes: $0, isWorking: isWorking) }
        // How long the jobs that wait will take, if something tells.
        let open = queues.filter { queue in
            !queue.paused && queue.opensAt == nil
                && workers.contains { $0.isUnhindered && $0.takesJobs(of: queue.name) }
        }
        let backlog = Double(open.reduce(0) { $0 + $1.unfinished })
        let ended = Double(periods[1].completed + periods[1].discarded)
        let totals = try totals()
        var jobs: [JobState: Int] = [:]
        for state in JobState.allCases { jobs[state] = queues.reduce(0) { $0 + ($1.jobs[state] ?? 0) } }
        var report = StatusReport(
            generatedAt: date,
            schemaVersion: try schemaVersion(),
            jobs: jobs,
            queues: queues,
            finishedLastMinute: StatusReport.Finished(completed: periods[0].completed, discarded: periods[0].discarded),
            workers: workers,
            blobs: StatusReport.Blobs(count: totals["blobs"] ?? 0, bytes: totals["blob_bytes"] ?? 0),
            thumbnails: totals["thumbnails"] ?? 0,
            sources: StatusReport.Sources(
                count: totals["sources"] ?? 0,
                bytes: totals["source_bytes"] ?? 0,
                evicted: totals["sources_evicted"] ?? 0,
                evictedBytes: totals["source_bytes_evicted"] ?? 0
            )
        )
        report.throughput = periods
        report.stages = try stages()
        report.failures = try failures()
        report.etaSeconds = backlog > 0 && ended > 0 ? backlog * periods[1].seconds / ended : nil
        report.commitWaitSeconds = try commitWaitSeconds()
        report.undelivered = try undelivered()
        report.unfollowed = try troubles()
        if queues.contains(where: { $0.fair == true }) {
            let longest = try tenants(TenantChoice(order: .longestWaiting, limit: 10, ofFairQueues: true)).tenants
            report.tenants = longest.isEmpty ? nil : longest
        }
        return report
    }

    /// The jobs that ended in the last minutes, and how long there was work: workers that have just begun, or have been idle,
    /// have had less.
    private func recentEnds(minutes: Int, isWorking: Bool) throws -> StatusReport.Throughput {
        guard let numbers = try numbersOfChanges(since: now - Int64(minutes) * 60_000) else {
            return StatusReport.Throughput(minutes: minutes, completed: 0, discarded: 0, seconds: 1)
        }
        let span = numbers.upperBound - numbers.lowerBound + 1
        let picks = span <= countedChanges ? span : sampledChanges
        var ended: [JobState: Int] = [:]
        var worked: Int64 = 0
        var latest: Int64?
        for row in try query(dialect.sampleOfChanges, [picks, numbers.lowerBound, span, longestGap]) {
            let count = (Double(try row["jobs"] as Int64) * Double(span) / Double(picks)).rounded()
            ended[try JobState(code: row["state"])] = Int(count)
            worked += try row["worked"]
            latest = max(latest ?? .min, try row["latest"])
        }
        if isWorking { worked += min(max(0, now - (latest ?? now)), longestGap) }
        return StatusReport.Throughput(
            minutes: minutes,
            completed: ended[.completed] ?? 0,
            discarded: ended[.discarded] ?? 0,
            seconds: min(Double(minutes) * 60, max(1, Double(worked) / 1_000))
        )
    }

    /// The times of the jobs that were completed last.
    private func stages() throws -> [StatusReport.StageTimes] {
        let columns: [(stage: StatusReport.StageTimes.Stage, name: String)] = [
            (.wait, "wait"), (.fetch, "fetch_ms"), (.queue, "queue_ms"), (.render, "render_ms"), (.store, "store_ms"),
        ]
        let rows = try query(dialect.stagesOfLatest, [newest])
        return try columns.compactMap { stage, name in
            let sorted = try rows.compactMap { try $0[name] as Int? }.sorted()
            guard !sorted.isEmpty else { return nil }
            func rank(_ percent: Int) -> Int { sorted[(sorted.count * percent + 99) / 100 - 1] }
            return StatusReport.StageTimes(stage: stage, p50: rank(50), p95: rank(95))
        }
    }

    /// Why the newest discarded jobs, and the newest that wait for another attempt, failed last.
    private func failures() throws -> [StatusReport.Failures] {
        let rows = try query(
            """
            SELECT code, count(*) AS jobs, max(id) AS newest FROM (
              SELECT * FROM (SELECT id, code FROM outcome \(dialect.indexed(by: "outcome_end"))
                WHERE state = \(JobState.discarded.code) ORDER BY finalized_at DESC LIMIT ?1) AS discarded
              UNION ALL
              SELECT * FROM (SELECT task.id, failed.failure ->> 'code'
                FROM task \(dialect.indexed(by: "task_failed")) JOIN \(dialect.earlierAttempts) AS failed
                  ON failed.job_id = task.id AND failed.number = task.failed
                WHERE task.failed IS NOT NULL ORDER BY task.id DESC LIMIT ?1) AS retried) AS failed
            GROUP BY code
            """,
            [newest]
        )
        let codes = try rows.map { row in
            let code: String? = try row["code"]
            return (code: code ?? "", count: try row["jobs"] as Int, newest: try row["newest"] as Int64)
        }
        // The most codes that are shown.
        return try codes.sorted { ($1.count, $0.code) < ($0.count, $1.code) }.prefix(5).map { code, count, newest in
            let job = try job(newest)
            return StatusReport.Failures(
                code: JobFailure.Code(rawValue: code) ?? .unknown,
                count: count,
                example: StatusReport.FailedJob(
                    id: job.id,
                    source: job.source.map(SourceName.of),
                    message: job.failure?.message ?? ""
                )
            )
        }
    }

    // MARK: - Workers

    /// The workers in the order they started, or the one with an id.
    package func workers(only id: String?) throws -> [StatusReport.Worker] {
        let rows = try query(
            """
            SELECT id, host, pid, version, started_at, lease_until, concurrency, stop_mode, renderer_version, quiet_hours, trouble,
              \(dialect.queuesOfWorker) AS queues,
              (SELECT count(*) FROM task \(dialect.indexed(by: "task_running"))
                WHERE \(TaskRow.isRunning) AND task.worker = worker.id) AS running,
              (SELECT \(dialect.lines("lack", by: "lack")) FROM worker_lack
                WHERE worker_lack.worker = worker.id AND lack NOT LIKE 'file:%') AS lacks
            FROM worker WHERE id = coalesce(?1, id) ORDER BY started_at, id
            """,
            [id]
        )
        let running = try runningJobs(of: id)
        return try rows.map { row in
            var worker = try StatusReport.Worker(
                id: row["id"],
                host: row["host"],
                pid: row["pid"],
                version: row["version"],
                startedAt: Date(milliseconds: row["started_at"]),
                isAlive: isAlive(row["id"], leaseUntil: row["lease_until"]),
                concurrency: row["concurrency"],
                running: row["running"]
            )
            worker.stopping = try (row["stop_mode"] as String?).flatMap(WorkerStop.init(stored:))
            worker.rendererVersion = try row["renderer_version"]
            if let times = try (row["quiet_hours"] as String?).map(QuietTimes.init(stored:)) {
                (worker.quietHours, worker.timeZoneFault) = (times.hours, times.zoneFault)
                (worker.backgroundOpensAt, worker.backgroundClosesAt) = (times.opensAt, times.closesAt)
            }
            worker.queues = try (row["queues"] as String?)
                .flatMap { try? WireFormat.decode([String].self, from: Data($0.utf8)) }
            worker.lacks = try (row["lacks"] as String?)?.split(separator: "\n").map(String.init)
            worker.trouble = try (row["trouble"] as String?)
                .flatMap { try? WireFormat.decode(StatusReport.Worker.Trouble.self, from: Data($0.utf8)) }
            worker.current = running[worker.id] ?? []
            return worker
        }
    }

    /// The jobs that each worker, or only one, has run longest: as many as are shown.
    private func runningJobs(of only: String?) throws -> [String: [StatusReport.RunningJob]] {
        try query(
            """
            SELECT first.worker AS worker, first.id AS id, attempted_at, coalesce(
              (SELECT 'cameo://blob/sha256-' || digest FROM upload WHERE job_id = first.id),
              \(dialect.field("source"))) AS source
            FROM (
              SELECT id, worker, attempted_at, row_number() OVER (PARTITION BY worker ORDER BY attempted_at, id) AS place
              FROM task \(dialect.indexed(by: "task_running"))
              WHERE \(TaskRow.isRunning) AND worker = coalesce(?1, worker)) AS first
              JOIN \(dialect.jobs) ON job.id = first.id
            WHERE place <= 4 ORDER BY attempted_at, first.id
            """,
            [only]
        )
        .reduce(into: [:]) { running, row in
            let job = try StatusReport.RunningJob(
                id: row["id"],
                source: (row["source"] as String?).map(SourceName.of),
                since: Date(milliseconds: row["attempted_at"] ?? 0)
            )
            running[try row["worker"], default: []].append(job)
        }
    }

    package func stopRequest(for worker: String) throws -> WorkerStop? {
        try value(dialect.stopOfWorker, [worker]).flatMap(WorkerStop.init(stored:))
    }
}

extension QueueStore {
    package func queues() async throws(StoreError) -> [StatusReport.Queue] {
        try await read { db in
            let queues = try db.queuesAlone()
            guard queues.contains(where: \.isBackground) else { return queues }
            let workers = try db.workers(only: nil)
            return queues.map { $0.waiting(for: workers, now: Date(milliseconds: db.now)) }
        }
    }

    /// Of those jobs that are not accepted yet, a hundred tell.
    package func standstills() async throws(StoreError) -> [Standstill] {
        try await read { db in
            let (dialect, workers) = (db.dialect, try db.workers(only: nil))
            let rows = try db.query(
                """
                SELECT waiting.name AS name, coalesce(queue.paused, FALSE) AS paused FROM (
                  SELECT name FROM queue WHERE EXISTS (
                    SELECT 1 FROM task \(dialect.indexed(by: "task_waiting"))
                    WHERE task.queue = queue.id AND \(TaskRow.isAvailable))
                  UNION SELECT name FROM (
                    SELECT coalesce(\(dialect.field("queue")), 'default') AS name, \(dialect.dueByRequest) AS due
                    FROM \(dialect.arrivedJobs) LIMIT 100) AS arrived WHERE due <= CAST(?1 AS bigint)) AS waiting
                LEFT JOIN queue ON queue.name = waiting.name ORDER BY waiting.name
                """,
                [db.now]
            )
            return Standstill.all(of: try rows.map { try ($0["name"], $0["paused"]) }, workers: workers)
        }
    }

    package func unfinishedJobs(queues: [String]?, background: BackgroundJobs) async throws(StoreError) -> Int {
        let wanted = queues.map { Set($0.map(ExactText.init)) }
        return try await read { db in try db.queuesAlone() }
            .filter { queue in
                !queue.paused && (wanted?.contains(ExactText(queue.name)) ?? true)
                    && (background == .included || !queue.isBackground)
            }
            .reduce(0) { $0 + $1.unfinished }
    }

    /// One that was told to stop at once is not told to finish first.
    package func stopWorker(_ id: String, _ stop: WorkerStop) async throws(StoreError) -> StatusReport.Worker {
        try await commit(.new) { db in
            try db.execute(
                """
                UPDATE worker SET stop_requested_at = coalesce(stop_requested_at, ?1),
                  stop_mode = CASE WHEN stop_mode = 'stop' THEN stop_mode ELSE ?2 END
                WHERE id = ?3
                """,
                [db.now, stop.stored, id]
            )
            guard let worker = try db.workers(only: id).first else { throw StoreError.noSuch(.worker, id) }
            return worker
        }
    }
}

/// The most ended jobs whose times, and the most failed ones whose reasons are read.
private let newest = 500

extension StatusReport.Queue {
    fileprivate var unfinished: Int {
        [JobState.available, .running, .retryable].reduce(0) { $0 + (jobs[$1] ?? 0) }
    }
}

extension WorkerStop {
    /// Reads the stored word, which differs from the command's.
    package init?(stored word: String) {
        guard let stop = Self.allCases.first(where: { $0.stored == word }) else { return nil }
        self = stop
    }

    fileprivate var stored: String {
        switch self {
        case .drain: "drain"
        case .now: "stop"
        }
    }
}
