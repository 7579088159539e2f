internal import CameoModel
internal import CameoStore
internal import GRDB

struct End {
    let state: JobState
    var failure: JobFailure?
    var supersededBy: Int64?
}

extension SQLiteStore {
    /// Moves a job from the queue to the history; one whose row another program has deleted just leaves the queue. `before`
    /// is its previous state; nil if it has no task.
    static func end(
        _ task: TaskRow,
        from before: JobState?,
        _ end: End,
        _ db: SQLiteTransaction
    ) throws {
        let insert = try db.cachedStatement(
            sql: """
                INSERT INTO outcome(id, state, queue, priority, available_at, attempt, max_attempts, crash_count,
                  attempted_at, finalized_at, failure, code, superseded_by)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        let own: [(any DatabaseValueConvertible)?] = [
            task.id, end.state.code, task.queue, task.priority, task.due, task.attempt, task.maxAttempts,
            task.crashCount, task.attemptedAt, db.now, try end.failure?.stored, end.failure?.code.rawValue,
            end.supersededBy,
        ]
        do {
            try insert.execute(arguments: StatementArguments(own))
        } catch let error as DatabaseError where isDeleted(task, error, db) {
            if let before { try forget(task, from: before, db) }
            return
        }
        // A task without an outcome is not deleted (`Schema.refusals`).
        if before != nil { try task.delete(db) }
        if end.state == .discarded, let failure = end.failure { db.fail(failure.code, .finalFailures) }
        db.move(task, from: before, to: end.state)
        // The job that superseded it has inherited its hooks.
        if task.isHooked, end.supersededBy == nil { try Hooks.enter(task.id, end, db) }
    }

    /// Records how the attempt of a running job ended.
    ///
    /// - Returns: false if another program has deleted the job's row; then the task is gone too.
    static func close(
        _ task: TaskRow,
        as outcome: JobAttempt.Outcome,
        failure: JobFailure? = nil,
        timings: AttemptTimings = AttemptTimings(),
        _ db: SQLiteTransaction
    ) throws -> Bool {
        let close = try db.cachedStatement(
            sql: """
                INSERT INTO attempt(job_id, number, worker, started_at, finished_at, outcome, failure, wait_ms, fetch_ms,
                  queue_ms, render_ms, store_ms, source_bytes, output_bytes)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        let own: [(any DatabaseValueConvertible)?] = [
            task.id, task.tries, task.worker, task.attemptedAt, db.now, outcome.rawValue, try failure?.stored,
            timings.waitMilliseconds, timings.fetchMilliseconds, timings.queueMilliseconds, timings.renderMilliseconds,
            timings.storeMilliseconds, timings.sourceBytes, timings.outputBytes,
        ]
        do {
            try close.execute(arguments: StatementArguments(own))
            return true
        } catch let error as DatabaseError where isDeleted(task, error, db) {
            try forget(task, from: .running, db)
            return false
        }
    }

    /// Whether an error is due to a job's row, which another program has deleted.
    private static func isDeleted(_ task: TaskRow, _ error: DatabaseError, _ db: SQLiteTransaction) -> Bool {
        guard error.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY else { return false }
        let look = "SELECT NOT EXISTS (SELECT 1 FROM job WHERE id = ?)"
        // If even that fails, the error is thrown that led here.
        return (try? Bool.fetchOne(db.sqlite, sql: look, arguments: [task.id])) ?? false
    }

    /// Removes the task of a job whose row another program has deleted.
    static func forget(_ task: TaskRow, from before: JobState, _ db: SQLiteTransaction) throws {
        try task.delete(db)
        db.move(task, from: before, to: nil)
    }

    /// Releases a running job to wait again without counting the attempt. `deaths` is the number of worker deaths to
    /// add.
    static func giveBack(
        _ task: TaskRow,
        deaths: Int,
        _ db: SQLiteTransaction
    ) throws -> Settlement {
        var waiting = task
        waiting.state = .available
        (waiting.token, waiting.worker) = (nil, nil)
        waiting.attempt = max(0, task.attempt - 1)
        waiting.crashCount += deaths
        return Settlement(try letWait(waiting, from: .running, db))
    }
}
