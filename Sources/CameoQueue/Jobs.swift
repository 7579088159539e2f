package import CameoModel
package import CameoStore
internal import Foundation

/// The period in milliseconds over which a batch's rate is measured.
private let rateWindow: Int64 = 60_000

// Converts the rows of jobs and batches to the form shown in reports.
extension QueueTransaction {
    /// - Throws: ``StoreError/noSuchJob(_:)``
    package func job(_ id: Int64, attempts: [JobAttempt]? = nil) throws -> Job {
        guard let job = try jobs([id], attempts: attempts).first else { throw StoreError.noSuchJob(id) }
        return job
    }

    /// Those of these jobs that exist, in the order of the ids.
    package func jobs(_ ids: [Int64], attempts: [JobAttempt]? = nil) throws -> [Job] {
        guard !ids.isEmpty else { return [] }
        let found = try query(
            """
            SELECT job.id AS id, coalesce(task.state, outcome.state, \(stateOfArrival("?2"))) AS state,
              coalesce((SELECT name FROM queue WHERE queue.id = coalesce(task.queue, outcome.queue)),
                \(dialect.field("queue")), 'default') AS queue,
              coalesce(task.priority, outcome.priority, \(dialect.number("priority")), 0) AS priority,
              \(dialect.field("batch")) AS batch, coalesce(task.attempt, outcome.attempt, 0) AS attempt,
              coalesce(task.max_attempts, outcome.max_attempts, \(dialect.number("maxAttempts")), 5) AS max_attempts,
              coalesce(task.crash_count, outcome.crash_count, 0) AS crash_count, created_at,
              coalesce(task.due, outcome.available_at, \(dialect.dueByRequest)) AS due,
              coalesce(task.attempted_at, outcome.attempted_at) AS attempted_at, outcome.finalized_at AS finalized_at,
              task.worker AS worker, coalesce(outcome.failure, (
                SELECT failure FROM \(dialect.earlierAttempts) WHERE job_id = task.id AND number = task.failed)) AS failure,
              outcome.superseded_by AS superseded_by, \(dialect.text("job.request")) AS request,
              \(dialect.text("accepted.thumbnails")) AS thumbnails,
              (SELECT digest FROM upload WHERE job_id = job.id) AS digest
            FROM \(dialect.jobs) LEFT JOIN task ON task.id = job.id LEFT JOIN outcome ON outcome.id = job.id
              LEFT JOIN accepted ON accepted.id = job.id
            WHERE job.id \(dialect.isIn("?1", .integers))
            """,
            [ids, now]
        )
        let rows = try found.map { row in
            let thumbnails: String? = try row["thumbnails"]
            return (
                row, wanted: try thumbnails.map { try WantedThumbnail.list(from: $0) } ?? wanted(by: try row["request"])
            )
        }
        let made = try thumbnails(Array(Set(rows.flatMap(\.wanted).map(\.id))))
        let jobs = try rows.map { row, wanted in
            try Job(
                row,
                thumbnails: wanted.map { RequestedThumbnail(name: $0.name, id: $0.id, thumbnail: made[$0.id]) },
                attempts: attempts
            )
        }
        // A row that another program wrote may be in the queue and in the history.
        let byID = Dictionary(jobs.map { ($0.id, $0) }) { first, _ in first }
        return ids.compactMap { byID[$0] }
    }

    /// The state of a job that was not accepted yet, as SQL.
    private func stateOfArrival(_ now: String) -> String {
        "CASE WHEN \(dialect.dueByRequest) > CAST(\(now) AS bigint) THEN 0 ELSE 1 END"
    }

    /// The thumbnails that an unaccepted request asks for; none if it is invalid.
    private func wanted(by request: String) -> [WantedThumbnail] {
        guard let request = try? ThumbnailRequest(parsing: request.utf8) else { return [] }
        return (try? NewJob(request).wanted) ?? []
    }

    /// Follows superseded jobs to the last. A job is missing if there is none, or if retention has removed the last.
    package func places(of ids: [Int64]) throws -> [Int64: JobPlace] {
        let rows = try query(
            """
            WITH RECURSIVE place(first, id) AS (
              SELECT DISTINCT id, id FROM \(dialect.elements("?1", .integers))
              UNION SELECT first, superseded_by FROM place JOIN outcome ON outcome.id = place.id
                WHERE superseded_by IS NOT NULL)
            SELECT first, place.id AS id, coalesce(task.state, outcome.state, (
              SELECT \(stateOfArrival("?2")) FROM \(dialect.jobs) WHERE job.id = place.id)) AS state
            FROM place LEFT JOIN task ON task.id = place.id LEFT JOIN outcome ON outcome.id = place.id
            WHERE superseded_by IS NULL
            """,
            [ids, now]
        )
        return try rows.reduce(into: [:]) { places, row in
            guard let state: Int = try row["state"] else { return }
            places[try row["first"]] = JobPlace(job: try row["id"], state: try JobState(code: state))
        }
    }

    /// Every attempt of a job, oldest first; a running attempt is derived from its task.
    package func attempts(of id: Int64) throws -> [JobAttempt] {
        let ended = try query(
            """
            SELECT number, worker, started_at, finished_at, outcome, failure, wait_ms, fetch_ms, queue_ms, render_ms,
              store_ms, source_bytes, output_bytes, cpu_ms
            FROM attempt WHERE job_id = ?1 ORDER BY number
            """,
            [id]
        )
        .map { try JobAttempt($0) }
        let running = try row(
            """
            SELECT tries, worker, attempted_at, token, (SELECT transfers FROM worker WHERE worker.id = task.worker) AS transfers
            FROM task WHERE id = ?1 AND \(TaskRow.isRunning)
            """,
            [id]
        )
        guard let row = running, let started: Int64 = try row["attempted_at"] else { return ended }
        // What the worker has said last of its download, if that was in this attempt; another version may say it otherwise.
        let transfers = try (row["transfers"] as String?)
            .flatMap { try? WireFormat.decode([RunningTransfer].self, from: Data($0.utf8)) }
        let token: String? = try row["token"]
        var last = JobAttempt(
            number: try row["tries"],
            worker: try row["worker"] ?? "",
            startedAt: Date(milliseconds: started),
            outcome: .running
        )
        last.transfer = transfers?.first { $0.token == token }?.transfer
        return ended + [last]
    }

    // MARK: - Batches

    /// The batches that have jobs, newest first.
    package func batches(before cursor: Int64?, limit: Int) throws -> BatchPage {
        let rows = try query(
            """
            SELECT id, name FROM batch
            WHERE id < ?1 AND EXISTS (SELECT 1 FROM batch_job WHERE batch = batch.id) ORDER BY id DESC LIMIT ?2
            """,
            [cursor ?? .max, limit]
        )
        let reports = try rows.map { row in try batchReport(row["name"]) }
        return (batches: reports, next: rows.count == limit ? try rows.last?["id"] : nil)
    }

    /// - Throws: ``StoreError/noSuch(_:_:)``
    package func batchReport(_ name: String) throws -> BatchReport {
        let rows = try query(
            """
            SELECT coalesce(task.state, outcome.state) AS state, count(*) AS jobs, min(batch_job.job_id) AS oldest, code,
              -- Requests that needed no job do not count towards the rate.
              count(CASE WHEN finalized_at >= ?1
                AND (outcome.attempted_at IS NOT NULL OR outcome.state <> \(JobState.completed.code)) THEN 1 END)
                AS recent
            FROM batch JOIN batch_job ON batch_job.batch = batch.id
              LEFT JOIN task ON task.id = batch_job.job_id LEFT JOIN outcome ON outcome.id = batch_job.job_id
            WHERE batch.name = ?2 AND (task.id IS NOT NULL OR outcome.id IS NOT NULL) GROUP BY 1, 4
            """,
            [now - rateWindow, name]
        )
        var jobs: [JobState: Int] = [:]
        // Codes of a newer version are counted together as unknown.
        var failures: [JobFailure.Code: Int] = [:]
        let removed = try query(
            "SELECT state, code, jobs FROM batch JOIN batch_removed ON batch_removed.batch = batch.id WHERE name = ?1",
            [name]
        )
        for row in rows + removed {
            let (state, count) = try (JobState(code: row["state"]), row["jobs"] as Int)
            jobs[state, default: 0] += count
            if state == .discarded {
                failures[try (row["code"] as String?).flatMap(JobFailure.Code.init) ?? .unknown, default: 0] += count
            }
        }
        // Those that are not accepted yet.
        let arrived =
            try hasArrivals()
            ? query(
                """
                SELECT state, count(*) AS jobs, min(job_status.id) AS oldest FROM \(dialect.arrivals)
                WHERE job_status.batch = ?1 GROUP BY state
                """,
                [name]
            ) : []
        for row in arrived { jobs[try JobState(stored: row["state"]), default: 0] += try row["jobs"] }
        let (sealedAt, end) = try seal(of: name)
        let oldest = try (rows + arrived).map { try $0["oldest"] as Int64 }.min()
        if oldest == nil, sealedAt == nil, end == nil {
            var filter = ThumbnailFilter()
            filter.batch = name
            let isEmpty = try thumbnails(where: filter, after: nil, limit: 1).isEmpty
            throw isEmpty ? StoreError.noSuch(.batch, name) : .batchWithoutJobs(name)
        }
        let begun: Int64? = try oldest.flatMap { try value("SELECT created_at FROM job WHERE id = ?1", [$0]) }
        // A batch younger than the window has had less time.
        let since = max(now - rateWindow, begun ?? 0)
        let finished: Int = try rows.reduce(0) { $0 + (try $1["recent"]) }
        var report = BatchReport(
            name: name,
            generatedAt: Date(milliseconds: now),
            jobs: jobs,
            failures: failures.map { BatchReport.Failures(code: $0.key, count: $0.value) },
            finishedLastMinute: finished,
            rate: Double(finished) * 1_000 / Double(max(1, now - since))
        )
        (report.sealedAt, report.end) = (sealedAt, end)
        return report
    }
}

extension Job {
    /// Reads a row of ``QueueTransaction/jobs(_:attempts:)``.
    fileprivate init(_ row: QueueRow, thumbnails: [RequestedThumbnail], attempts: [JobAttempt]?) throws {
        let (attempted, ended): (Int64?, Int64?) = try (row["attempted_at"], row["finalized_at"])
        self.init(
            id: try row["id"],
            state: try JobState(code: row["state"]),
            queue: try row["queue"],
            priority: try row["priority"],
            attempt: try row["attempt"],
            maxAttempts: try row["max_attempts"],
            crashCount: try row["crash_count"],
            createdAt: Date(milliseconds: try row["created_at"]),
            availableAt: Date(milliseconds: try row["due"]),
            request: Self.json(of: try row["request"], uploaded: try row["digest"]),
            thumbnails: thumbnails
        )
        batch = try row["batch"]
        (attemptedAt, finalizedAt) = (attempted.map(Date.init(milliseconds:)), ended.map(Date.init(milliseconds:)))
        worker = try row["worker"]
        failure = try JobFailure.from(stored: row["failure"])
        supersededBy = try row["superseded_by"]
        self.attempts = attempts
    }

    /// Text that is JSON to the database but not to Cameo (a duplicate key) is shown as a string.
    private static func json(of request: String, uploaded digest: String?) -> JSONValue {
        guard let json = try? JSONValue(parsing: request) else { return .string(request) }
        guard let digest, case .object(var members) = json else { return json }
        members["source"] = .string("cameo://blob/sha256-\(digest)")
        return .object(members)
    }
}

extension JobAttempt {
    fileprivate init(_ row: QueueRow) throws {
        self.init(
            number: try row["number"],
            worker: try row["worker"],
            startedAt: Date(milliseconds: try row["started_at"]),
            outcome: Outcome(rawValue: try row["outcome"]) ?? .unknown
        )
        finishedAt = Date(milliseconds: try row["finished_at"])
        failure = try JobFailure.from(stored: row["failure"])
        throttledMilliseconds = try row["wait_ms"]
        fetchMilliseconds = try row["fetch_ms"]
        queueMilliseconds = try row["queue_ms"]
        renderMilliseconds = try row["render_ms"]
        storeMilliseconds = try row["store_ms"]
        sourceBytes = try row["source_bytes"]
        outputBytes = try row["output_bytes"]
        cpuMilliseconds = try row["cpu_ms"]
    }
}
