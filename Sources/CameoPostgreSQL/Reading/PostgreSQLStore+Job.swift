internal import CameoModel
internal import CameoQueue
internal import CameoStore
internal import Foundation

// Converts a job's rows to the form shown in reports.
extension PostgreSQLStore {
    static func job(_ id: Int64, attempts: [JobAttempt]?, _ db: Database) throws -> Job {
        guard let job = try jobs([id], attempts: attempts, db).first else { throw StoreError.noSuchJob(id) }
        return job
    }

    /// Those of these jobs that exist, in the order of the ids.
    static func jobs(_ ids: [Int64], attempts: [JobAttempt]? = nil, _ db: Database) throws -> [Job] {
        guard !ids.isEmpty else { return [] }
        let found = try db.query(
            """
            SELECT job.id, coalesce(task.state, outcome.state, \(JobPlace.stateOfArrival)),
              coalesce((SELECT name FROM queue WHERE queue.id = coalesce(task.queue, outcome.queue)),
                field(request, 'queue'), 'default'),
              coalesce(task.priority, outcome.priority, number_field(request, 'priority'), 0), field(request, 'batch'),
              coalesce(task.attempt, outcome.attempt, 0),
              coalesce(task.max_attempts, outcome.max_attempts, number_field(request, 'maxAttempts'), 5),
              coalesce(task.crash_count, outcome.crash_count, 0), created_at,
              coalesce(task.due, outcome.available_at, greatest(created_at, time_field(request, 'runAt'))),
              coalesce(task.attempted_at, outcome.attempted_at), outcome.finalized_at, task.worker,
              coalesce(outcome.failure, (SELECT failure FROM earlier_attempt WHERE job_id = task.id AND number = task.failed)),
              outcome.superseded_by, request::text, accepted.thumbnails::text,
              (SELECT digest FROM upload WHERE job_id = job.id)
            FROM job LEFT JOIN task ON task.id = job.id LEFT JOIN outcome ON outcome.id = job.id
              LEFT JOIN accepted ON accepted.id = job.id
            WHERE job.id = ANY($1::bigint[])
            """,
            [SQLArray(ids), db.now]
        )
        let rows = try found.map { row in
            let (thumbnails, request): (String?, String) = try (row[16], row[15])
            return (row, wanted: try thumbnails.map { try WantedThumbnail.list(from: $0) } ?? wanted(by: request))
        }
        let made = try db.thumbnails(Array(Set(rows.flatMap(\.wanted).map(\.id))))
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

extension Job {
    /// Reads a row of ``PostgreSQLStore/jobs(_:attempts:_:)``.
    fileprivate init(_ row: Row, thumbnails: [RequestedThumbnail], attempts: [JobAttempt]?) throws {
        let (attempted, ended): (Int64?, Int64?) = try (row[10], row[11])
        try self.init(
            id: row[0],
            state: JobState(code: row[1]),
            queue: row[2],
            priority: row[3],
            batch: row[4],
            attempt: row[5],
            maxAttempts: row[6],
            crashCount: row[7],
            createdAt: Date(milliseconds: row[8]),
            availableAt: Date(milliseconds: row[9]),
            attemptedAt: attempted.map(Date.init(milliseconds:)),
            finalizedAt: ended.map(Date.init(milliseconds:)),
            worker: row[12],
            failure: JobFailure.from(stored: row[13]),
            supersededBy: row[14],
            request: Self.json(of: row[15], uploaded: row[17]),
            thumbnails: thumbnails,
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
}

extension JobPlace {
    /// The state of a job that was not accepted yet. The time is the parameter `$2`.
    static let stateOfArrival = "CASE WHEN time_field(request, 'runAt') > $2::bigint THEN 0 ELSE 1 END"
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
