package import CameoModel
internal import CameoStore

/// The queue's row of an unfinished job.
package struct TaskRow: Sendable {
    package let id: Int64
    package let queue: Int64
    package private(set) var key: Int64 = 0
    package private(set) var lane: Int64 = 0
    package var state = JobState.available
    package var priority = 0
    package var due: Int64
    package var attempt = 0
    package var maxAttempts = ThumbnailRequest.defaultMaxAttempts
    package var crashCount = 0
    package var tries = 0
    package var attemptedAt: Int64?
    package var failed: Int?
    package var refresh = Refresh.ifChanged
    package var uniqueKey: String?
    package var upload: Int64?
    /// Whether its end is to be delivered to hooks.
    package var isHooked: Bool
    package var token: String?
    package var worker: String?
    /// The number of the last fetch that had begun when the job was requested, by itself or by a request that joined it.
    package var fetchAfter: Int64 = 0

    package var rank: Int64 { Rank.of(id, due: due, priority: priority) }

    /// The columns that ``init(_:)`` reads, in its order.
    package static let columns = [
        "id", "queue", "key", "lane", "state", "priority", "due", "attempt", "max_attempts", "crash_count", "tries",
        "attempted_at", "failed", "refresh", "unique_key", "upload", "token", "worker", "hooked", "fetch_after",
    ]
    .map { "task.\($0)" }.joined(separator: ", ")
}

// Conditions as SQL, with numbers and not parameters: a partial index serves only queries that repeat its own condition.
// Scripts of the schemas have the same ones written out, because they never change.
extension TaskRow {
    package static let isAvailable = "state = \(JobState.available.code)"
    package static let isRunning = "state = \(JobState.running.code)"
    /// Whether it waits, now or later.
    package static let isWaiting = "state <> \(JobState.running.code)"
    /// Whether it waits for its time.
    package static let isPostponed = "state IN (\(JobState.scheduled.code), \(JobState.retryable.code))"
    /// Whether a usual claim may take it.
    package static let isReady = "\(isAvailable) AND crash_count < \(ClaimKind.poisonAfterCrashes)"
    /// Whether it is to run alone.
    package static let isPoison = "\(isAvailable) AND crash_count >= \(ClaimKind.poisonAfterCrashes)"
}

extension TaskRow {
    /// What the counts, the change feed and hooks need of a job.
    package init(id: Int64, queue: Int64, key: Int64, isHooked: Bool = false) {
        self.init(id: id, queue: queue, key: key, due: 0, isHooked: isHooked)
    }

    package init(_ row: some QueueRow) throws {
        // One that was cut would name no row, and a claim would find the task again and again.
        id = try row.integer(0) ?? 0
        queue = try row[1]
        key = try row[2]
        lane = try row[3]
        state = try JobState(code: row[4])
        priority = try row[5]
        due = try row[6]
        attempt = try row[7]
        maxAttempts = try row[8]
        crashCount = try row[9]
        tries = try row[10]
        attemptedAt = try row[11]
        failed = try row[12]
        refresh = Refresh(code: try row[13])
        uniqueKey = try row[14]
        upload = try row[15]
        token = try row[16]
        worker = try row[17]
        isHooked = try row[18]
        fetchAfter = try row[19]
    }
}

extension QueueTransaction {
    /// Finds a task; nil for a job that has ended or is not yet accepted.
    package func task(_ id: Int64) throws -> TaskRow? { try tasks("WHERE id = ?1", [id]).first }

    /// Inserts a new task, which waits and has no attempts, except those before a manual retry (`tries`).
    package func insert(_ task: TaskRow) throws {
        try execute(
            dialect.insertionOfTask,
            [
                task.id, task.queue, task.key, task.lane, task.state.code, task.priority, task.due, task.rank,
                task.maxAttempts, task.tries, task.attemptedAt, task.refresh.code, task.uniqueKey, task.upload,
                task.isHooked,
            ]
        )
    }

    /// Updates all mutable columns.
    package func update(_ task: TaskRow) throws {
        try execute(
            """
            UPDATE task SET state = ?1, priority = ?2, due = ?3, rank = ?4, attempt = ?5, crash_count = ?6, tries = ?7,
              attempted_at = ?8, failed = ?9, refresh = ?10, unique_key = ?11, upload = ?12, token = ?13, worker = ?14,
              hooked = ?15, fetch_after = ?16
            WHERE id = ?17
            """,
            [
                task.state.code, task.priority, task.due, task.rank, task.attempt, task.crashCount, task.tries,
                task.attemptedAt, task.failed, task.refresh.code, task.uniqueKey, task.upload, task.token, task.worker,
                task.isHooked, task.fetchAfter, task.id,
            ]
        )
    }

    package func delete(_ task: TaskRow) throws { try execute("DELETE FROM task WHERE id = ?1", [task.id]) }

    /// The failure of a task's last failed attempt.
    package func previousFailure(of task: TaskRow) throws -> JobFailure? {
        guard let number = task.failed else { return nil }
        let look = "SELECT failure FROM \(dialect.earlierAttempts) WHERE job_id = ?1 AND number = ?2"
        return try JobFailure.from(stored: value(look, [task.id, number]))
    }
}
