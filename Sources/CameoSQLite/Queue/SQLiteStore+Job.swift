internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation
internal import GRDB

// Converts a job's rows to the form shown in reports.
extension SQLiteStore {
    static func job(_ id: Int64, attempts: [JobAttempt]?, _ db: SQLiteTransaction) throws -> Job {
        let statement = try db.cachedStatement(
            sql: """
                SELECT job_status.state AS state, job_status.queue AS queue, job_status.priority AS priority,
                  job_status.batch AS batch, job_status.attempt AS attempt, job_status.max_attempts AS max_attempts,
                  coalesce(task.crash_count, outcome.crash_count, 0) AS crash_count,
                  job.created_at AS created_at,
                  coalesce(task.due, outcome.available_at, max(job.created_at, coalesce(\(Schema.runAt), 0))) AS due,
                  coalesce(task.attempted_at, outcome.attempted_at) AS attempted_at,
                  outcome.finalized_at AS finalized_at, task.worker AS worker, outcome.failure AS failure,
                  outcome.superseded_by AS superseded_by, request, accepted.thumbnails AS thumbnails,
                  accepted.id IS NULL AS is_bare, (SELECT digest FROM upload WHERE job_id = job.id) AS digest
                FROM job JOIN job_status ON job_status.id = job.id
                  LEFT JOIN task ON task.id = job.id LEFT JOIN outcome ON outcome.id = job.id
                  LEFT JOIN accepted ON accepted.id = job.id
                WHERE job.id = ?
                """
        )
        guard let row = try Row.fetchOne(statement, arguments: [id]) else { throw StoreError.noSuchJob(id) }
        var failure = try JobFailure.from(stored: row["failure"])
        if let task = try db.task(id) { failure = try db.previousFailure(of: task) }
        let request: String = row["request"]
        return Job(
            id: id,
            state: try JobState(stored: row["state"]),
            queue: row["queue"],
            priority: row["priority"],
            batch: row["batch"],
            attempt: row["attempt"],
            maxAttempts: row["max_attempts"],
            crashCount: row["crash_count"],
            createdAt: Date(milliseconds: row["created_at"]),
            availableAt: Date(milliseconds: row["due"]),
            attemptedAt: (row["attempted_at"] as Int64?).map(Date.init(milliseconds:)),
            finalizedAt: (row["finalized_at"] as Int64?).map(Date.init(milliseconds:)),
            worker: row["worker"],
            failure: failure,
            supersededBy: row["superseded_by"],
            request: json(of: request, uploaded: row["digest"]),
            thumbnails: try wanted(row, request).map { wanted in
                RequestedThumbnail(name: wanted.name, id: wanted.id, thumbnail: try thumbnail(wanted.id, db))
            },
            attempts: attempts
        )
    }

    /// Text that is JSON to SQLite but not to Cameo (a duplicate key) is shown as a string.
    private static func json(of request: String, uploaded digest: String?) -> JSONValue {
        guard let json = try? JSONValue(parsing: request) else { return .string(request) }
        guard let digest, case .object(var members) = json else { return json }
        members["source"] = .string("cameo://blob/sha256-\(digest)")
        return .object(members)
    }

    /// The wanted thumbnails; for an unaccepted row they are derived from its request, and an invalid request has none.
    private static func wanted(_ row: Row, _ request: String) throws -> [WantedThumbnail] {
        if row["is_bare"] == false { return try WantedThumbnail.list(from: row["thumbnails"]) }
        guard case .success(let new) = parse(Data(request.utf8)) else { return [] }
        return new.wanted
    }

    /// Every attempt of a job, oldest first; a running attempt is derived from its task.
    static func attempts(of id: Int64, _ db: SQLiteTransaction) throws -> [JobAttempt] {
        let ended = try Row.fetchAll(
            db.cachedStatement(sql: "SELECT * FROM attempt WHERE job_id = ? ORDER BY number"),
            arguments: [id]
        )
        .map(JobAttempt.init(row:))
        guard let task = try db.task(id), task.state == .running, let started = task.attemptedAt else {
            return ended
        }
        let running = JobAttempt(
            number: task.tries,
            worker: task.worker ?? "",
            startedAt: Date(milliseconds: started),
            finishedAt: nil,
            outcome: .running,
            failure: nil,
            timings: AttemptTimings(),
            transfer: try transfer(of: task, db)
        )
        return ended + [running]
    }

    /// What the worker of a running job has said last of its download; nil if it has not said anything in this attempt.
    private static func transfer(of task: TaskRow, _ db: SQLiteTransaction) throws -> JobAttempt.Transfer? {
        let find = try db.cachedStatement(sql: "SELECT transfers FROM worker WHERE id = ?")
        guard let text = try String.fetchOne(find, arguments: [task.worker]) else { return nil }
        return try [RunningTransfer].from(stored: text).first { $0.token == task.token }?.transfer
    }
}

extension JobAttempt {
    fileprivate init(row: Row) throws {
        var timings = AttemptTimings()
        timings.waitMilliseconds = row["wait_ms"]
        timings.fetchMilliseconds = row["fetch_ms"]
        timings.queueMilliseconds = row["queue_ms"]
        timings.renderMilliseconds = row["render_ms"]
        timings.storeMilliseconds = row["store_ms"]
        timings.sourceBytes = row["source_bytes"]
        timings.outputBytes = row["output_bytes"]
        self.init(
            number: row["number"],
            worker: row["worker"],
            startedAt: Date(milliseconds: row["started_at"]),
            finishedAt: Date(milliseconds: row["finished_at"]),
            outcome: Outcome(rawValue: row["outcome"]) ?? .unknown,
            failure: try JobFailure.from(stored: row["failure"]),
            timings: timings
        )
    }
}
