internal import CameoModel
internal import CameoStore
internal import Foundation
internal import GRDB

// DESIGN. At most one waiting job exists per unique key, enforced by the partial unique index `task_unique`. A new
// request with that key joins the job, which changes its task but never its request. A job that has to wait again while
// another is waiting under its key ends `cancelled`, superseded by the other.
extension SQLiteStore {
    static func waitingJob(for key: String?, _ db: SQLiteTransaction) throws -> TaskRow? {
        guard let key else { return nil }
        let find = try db.cachedStatement(
            sql: "SELECT id FROM task INDEXED BY task_unique WHERE unique_key = ? AND state <> 2"
        )
        return try Int64.fetchOne(find, arguments: [key]).flatMap { try TaskRow.find($0, db) }
    }

    /// A running job of a key. There are as many running jobs as workers have room for.
    static func runningJob(for key: String, _ db: SQLiteTransaction) throws -> TaskRow? {
        let rest = "INDEXED BY task_running WHERE state = 2 AND worker IS NOT NULL AND unique_key = ? LIMIT 1"
        return try TaskRow.all(rest, [key], db).first
    }

    /// Merges a request or job into a waiting job: the higher priority, the earlier time, the more thorough refresh,
    /// and all batches; the caller notes the hooks. A back-off is kept, because it protects the source.
    ///
    /// - Returns: the updated job.
    @discardableResult
    static func join(
        _ task: TaskRow,
        _ joining: Joining,
        _ db: SQLiteTransaction
    ) throws -> TaskRow {
        var raised = task
        raised.priority = max(task.priority, joining.priority)
        raised.refresh = task.refresh.joined(with: joining.refresh)
        if task.state != .retryable, let due = joining.due { raised.due = min(task.due, due) }
        raised.isHooked = task.isHooked || joining.isHooked
        raised.fetchAfter = try Int64.fetchOne(db.cachedStatement(sql: "SELECT \(TaskRow.lastFetch)")) ?? 0
        if task.state == .scheduled, raised.due <= db.now { raised.state = .available }
        try raised.update(db)
        if raised.state != task.state {
            db.move(raised, from: task.state, to: raised.state)
        } else if raised.state == .available {
            db.raise(raised)
        }
        try enter(joining.batches, task.id, db)
        return raised
    }

    static func enter(_ batches: [String], _ id: Int64, _ db: SQLiteTransaction) throws {
        let enter = try db.cachedStatement(sql: "INSERT OR IGNORE INTO batch_job(batch, job_id) VALUES (?, ?)")
        for batch in batches { try enter.execute(arguments: [try Names.batch(batch, db), id]) }
    }

    /// Makes a job wait in the state of its task, or ends it if another job with its key is waiting. `before` is its
    /// previous state; nil if it has no task yet.
    ///
    /// - Returns: the job that superseded it, if any.
    static func letWait(
        _ task: TaskRow,
        from before: JobState?,
        _ db: SQLiteTransaction
    ) throws -> Int64? {
        if let duplicate = try waitingJob(for: task.uniqueKey, db), duplicate.id != task.id {
            try supersede(task, from: before, by: duplicate, db)
            return duplicate.id
        }
        if before == nil { try task.insert(db) } else { try task.update(db) }
        db.move(task, from: before, to: task.state)
        return nil
    }

    /// Ends a job in favour of another, into which it is merged.
    private static func supersede(
        _ task: TaskRow,
        from before: JobState?,
        by duplicate: TaskRow,
        _ db: SQLiteTransaction
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
            batches: batches,
            isHooked: task.isHooked
        )
        try join(duplicate, joining, db)
        if task.isHooked { try Hooks.inherit(from: task.id, by: duplicate.id, db) }
        // The batches count the job that does the work, not the superseded one.
        try db.cachedStatement(sql: "DELETE FROM batch_job WHERE job_id = ?").execute(arguments: [task.id])
        let failure = JobFailure(
            .jobSuperseded,
            at: .request,
            "job \(duplicate.id) was already waiting for the same thumbnails"
        )
        let end = End(state: .cancelled, failure: failure, supersededBy: duplicate.id)
        try self.end(task, from: before, end, db)
    }
}
