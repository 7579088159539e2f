internal import CameoModel
internal import CameoStore
internal import Foundation

// Converts a job's rows to the form shown in reports.
extension PostgreSQLStore {
    static func job(_ id: Int64, attempts: [JobAttempt]?, _ db: Database) throws -> Job {
        let rows = try db.query(
            """
            SELECT job_status.state, job_status.queue, job_status.priority, job_status.batch, job_status.attempt,
              job_status.max_attempts, coalesce(task.crash_count, outcome.crash_count, 0), job.created_at,
              coalesce(task.due, outcome.available_at, greatest(job.created_at, time_field(job.request, 'runAt'))),
              coalesce(task.attempted_at, outcome.attempted_at), outcome.finalized_at, task.worker,
              coalesce(failed.failure, outcome.failure), outcome.superseded_by, job.request::text,
              accepted.thumbnails::text, accepted.id IS NULL, (SELECT digest FROM upload WHERE job_id = job.id)
            FROM job JOIN job_status ON job_status.id = job.id
              LEFT JOIN task ON task.id = job.id LEFT JOIN outcome ON outcome.id = job.id
              LEFT JOIN attempt AS failed ON failed.job_id = task.id AND failed.number = task.failed
              LEFT JOIN accepted ON accepted.id = job.id
            WHERE job.id = $1
            """,
            [id]
        )
        guard let row = rows.first else { throw StoreError.noSuchJob(id) }
        let request: String = try row[14]
        let isBare: Bool = try row[16]
        let wanted = isBare ? self.wanted(by: request) : try WantedThumbnail.list(from: try row[15])
        let thumbnails = try db.thumbnails(wanted.map(\.id))
        return try Job(
            id: id,
            state: JobState(stored: row[0]),
            queue: row[1],
            priority: row[2],
            batch: row[3],
            attempt: row[4],
            maxAttempts: row[5],
            crashCount: row[6],
            createdAt: Date(milliseconds: row[7]),
            availableAt: Date(milliseconds: row[8]),
            attemptedAt: (row[9] as Int64?).map(Date.init(milliseconds:)),
            finalizedAt: (row[10] as Int64?).map(Date.init(milliseconds:)),
            worker: row[11],
            failure: JobFailure.from(stored: row[12]),
            supersededBy: row[13],
            request: json(of: request, uploaded: row[17]),
            thumbnails: wanted.map { RequestedThumbnail(name: $0.name, id: $0.id, thumbnail: thumbnails[$0.id]) },
            attempts: attempts
        )
    }

    /// Text that is JSON to PostgreSQL but not to Cameo (a duplicate key) is shown as a string.
    private static func json(of request: String, uploaded digest: String?) -> JSONValue {
        guard let json = try? JSONValue(parsing: request) else { return .string(request) }
        guard let digest, case .object(var members) = json else { return json }
        members["source"] = .string("cameo://blob/sha256-\(digest)")
        return .object(members)
    }

    /// The thumbnails that an unaccepted request asks for; none if it is invalid.
    private static func wanted(by request: String) -> [WantedThumbnail] {
        guard let request = try? ThumbnailRequest(parsing: request.utf8) else { return [] }
        return (try? NewJob(request).wanted) ?? []
    }

    /// Every attempt of a job, oldest first; a running attempt is derived from its task.
    static func attempts(of id: Int64, _ db: Database) throws -> [JobAttempt] {
        let ended = try db.query(
            """
            SELECT number, worker, started_at, finished_at, outcome, failure, wait_ms, fetch_ms, queue_ms, render_ms,
              store_ms, source_bytes, output_bytes
            FROM attempt WHERE job_id = $1 ORDER BY number
            """,
            [id]
        )
        .map(JobAttempt.init(row:))
        let running = try db.query(
            """
            SELECT tries, worker, attempted_at, token, (SELECT transfers FROM worker WHERE worker.id = task.worker)
            FROM task WHERE id = $1 AND state = 2
            """,
            [id]
        )
        guard let row = running.first else { return ended }
        // What the worker has said last of its download, if that was in this attempt.
        let transfers: [RunningTransfer] =
            try (row[4] as String?).map { try WireFormat.decode([RunningTransfer].self, from: Data($0.utf8)) } ?? []
        let token: String = try row[3]
        let last = try JobAttempt(
            number: row[0],
            worker: row[1],
            startedAt: Date(milliseconds: row[2]),
            finishedAt: nil,
            outcome: .running,
            failure: nil,
            timings: AttemptTimings(),
            transfer: transfers.first { $0.token == token }?.transfer
        )
        return ended + [last]
    }
}

extension JobAttempt {
    fileprivate init(row: Row) throws {
        var timings = AttemptTimings()
        timings.waitMilliseconds = try row[6]
        timings.fetchMilliseconds = try row[7]
        timings.queueMilliseconds = try row[8]
        timings.renderMilliseconds = try row[9]
        timings.storeMilliseconds = try row[10]
        timings.sourceBytes = try row[11]
        timings.outputBytes = try row[12]
        try self.init(
            number: row[0],
            worker: row[1],
            startedAt: Date(milliseconds: row[2]),
            finishedAt: Date(milliseconds: row[3]),
            outcome: Outcome(rawValue: row[4]) ?? .unknown,
            failure: JobFailure.from(stored: row[5]),
            timings: timings
        )
    }
}
