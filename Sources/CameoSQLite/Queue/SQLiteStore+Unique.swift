internal import CameoModel
internal import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. While a job waits it stands for its unique key, and the partial unique index `task_unique` lets one stand for
// each. A new request joins it, which changes its task and never its request; a job that is to wait while another stands
// ends `cancelled`, superseded by that one.
extension SQLiteStore {
    /// Lets one job stand for each key.
    static let standingIndex = "task_unique"

    /// The job that waits for what a key stands for.
    static func standing(for key: String?, _ db: Database) throws -> TaskRow? {
        guard let key else { return nil }
        let find = try db.cachedStatement(
            sql: "SELECT id FROM task INDEXED BY task_unique WHERE unique_key = ? AND state <> 2"
        )
        return try Int64.fetchOne(find, arguments: [key]).flatMap { try TaskRow.find($0, db) }
    }

    /// Raises a waiting job to what joins it: the higher priority, the earlier time, the more thorough refresh, and every
    /// batch. A back-off stays: it is the source's, not the producer's.
    ///
    /// - Returns: the job as it is now.
    @discardableResult
    static func join(
        _ task: TaskRow,
        _ joining: Joining,
        now: Int64,
        _ ledger: inout Ledger,
        _ db: Database
    ) throws -> TaskRow {
        var raised = task
        raised.priority = max(task.priority, joining.priority)
        raised.refresh = task.refresh.joined(with: joining.refresh)
        if task.state != .retryable, let due = joining.due { raised.due = min(task.due, due) }
        if task.state == .scheduled, raised.due <= now { raised.state = .available }
        try raised.update(db)
        if raised.state != task.state {
            try ledger.move(raised, from: task.state, to: raised.state, db)
        } else if raised.state == .available {
            ledger.raise(raised)
        }
        try enter(joining.batches, task.id, db)
        return raised
    }

    static func enter(_ batches: [String], _ id: Int64, _ db: Database) throws {
        let enter = try db.cachedStatement(sql: "INSERT OR IGNORE INTO batch_job(batch, job_id) VALUES (?, ?)")
        for batch in batches { try enter.execute(arguments: [try Names.batch(batch, db), id]) }
    }

    /// Lets a job wait, in the state that its task has, or ends it if another waits for the same. `before` is the state
    /// that it comes from; nil for one that has no task yet.
    ///
    /// - Returns: the job that superseded it, if one did.
    static func letWait(
        _ task: TaskRow,
        from before: JobState?,
        now: Int64,
        _ ledger: inout Ledger,
        _ db: Database
    ) throws -> Int64? {
        if let duplicate = try standing(for: task.uniqueKey, db), duplicate.id != task.id {
            try supersede(task, from: before, by: duplicate, now: now, &ledger, db)
            return duplicate.id
        }
        if before == nil { try task.insert(db) } else { try task.update(db) }
        try ledger.move(task, from: before, to: task.state, db)
        return nil
    }

    /// Ends a job in favour of another, which takes on what it was to do, and its batches.
    private static func supersede(
        _ task: TaskRow,
        from before: JobState?,
        by duplicate: TaskRow,
        now: Int64,
        _ ledger: inout Ledger,
        _ db: Database
    ) throws {
        let batches = try String.fetchAll(
            db.cachedStatement(
                sql: "SELECT name FROM batch_job JOIN batch ON batch.id = batch_job.batch WHERE job_id = ?"
            ),
            arguments: [task.id]
        )
        let joining = Joining(
            priority: task.priority,
            due: task.state == .retryable ? nil : task.due,
            refresh: task.refresh,
            batches: batches
        )
        try join(duplicate, joining, now: now, &ledger, db)
        // Its batches count the job that does the work, not the one that was called off for it.
        try db.cachedStatement(sql: "DELETE FROM batch_job WHERE job_id = ?").execute(arguments: [task.id])
        let failure = JobFailure(
            .jobSuperseded,
            at: .request,
            "job \(duplicate.id) was waiting for the same thumbnails"
        )
        let end = End(state: .cancelled, failure: failure, supersededBy: duplicate.id)
        try self.end(task, from: before, end, now: now, &ledger, db)
    }
}
