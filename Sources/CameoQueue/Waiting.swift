package import CameoModel
package import CameoStore

// DESIGN. At most one waiting job exists per unique key, enforced by the partial unique index `task_unique`. A new
// request with that key joins the job, which changes its task but never its request. A job that has to wait again while
// another is waiting under its key ends `cancelled`, superseded by the other. If another transaction inserts a job of the
// key at the same moment, the index refuses one of both, whose group then runs again and finds the other's job.
extension QueueTransaction {
    package func waitingJob(for key: String?) throws -> TaskRow? {
        guard let key else { return nil }
        return try tasks(dialect.waitingByKey, [key]).first
    }

    /// A running job of a key, which is not locked. There are as many running jobs as workers have room for.
    package func runningJob(for key: String) throws -> TaskRow? {
        try query(
            """
            SELECT \(TaskRow.columns) FROM task \(dialect.indexed(by: "task_running"))
            WHERE \(TaskRow.isRunning) AND worker IS NOT NULL AND unique_key = ?1 LIMIT 1
            """,
            [key]
        )
        .first.map { try TaskRow($0) }
    }

    /// The poison job of lowest rank that may run now, and whose last attempt was at a time or before, or whenever if that
    /// is nil. There are few.
    package func poisonJob(
        among queues: [String]?,
        _ background: BackgroundJobs,
        attemptedBefore time: Int64? = nil
    ) throws -> (job: Int64, queue: Int64, queueName: String, isBackground: Bool, key: Int64)? {
        let row = try row(
            """
            SELECT task.id AS id, queue, name, background, task.key AS key
            FROM task \(dialect.indexed(by: "task_poison")) JOIN queue ON queue.id = task.queue
            WHERE task.\(TaskRow.isPoison) AND NOT paused AND queue.opens_at = 0
              AND NOT coalesce(\(dialect.isFullQueue), false) AND (CAST(?1 AS bigint) IS NULL OR attempted_at <= ?1)
              AND (?2 OR NOT queue.background) AND (?3 OR queue.name \(dialect.isIn("?4", .texts)))
              AND NOT EXISTS (SELECT 1 FROM key WHERE key.id = task.key
                AND (key.opens_at <> 0 OR key.max_running <= \(dialect.runningOfKey)))
            ORDER BY rank LIMIT 1
            """,
            [time, background == .included, queues == nil, queues ?? []]
        )
        return try row.map {
            try (
                job: $0["id"], queue: $0["queue"], queueName: $0["name"], isBackground: $0["background"], key: $0["key"]
            )
        }
    }

    /// Merges a request or job into a waiting job: the higher priority, the earlier time, the more thorough refresh,
    /// and all batches; the caller notes the hooks. A back-off is kept, because it protects the source, and one of the other
    /// does not count.
    ///
    /// - Returns: the updated job.
    @discardableResult
    func join(_ task: TaskRow, _ other: TaskRow, batches: [String]) throws -> TaskRow {
        var raised = task
        raised.priority = max(task.priority, other.priority)
        raised.refresh = task.refresh.joined(with: other.refresh)
        if task.state != .retryable, other.state != .retryable { raised.due = min(task.due, other.due) }
        raised.isHooked = task.isHooked || other.isHooked
        // A job that was asked for before something was forgotten, and is accepted now, asks for nothing later.
        let asked = other.id == task.id ? dialect.lastFetch : dialect.fetchAfter("?1")
        let fetch: Int64? = try value("SELECT \(asked)", other.id == task.id ? [] : [other.id])
        raised.fetchAfter = max(task.fetchAfter, fetch ?? 0)
        if task.state == .scheduled, raised.due <= now { raised.state = .available }
        try update(raised)
        if raised.state != task.state {
            move(raised, from: task.state, to: raised.state)
        } else if raised.state == .available {
            raise(raised)
        }
        try enter(batches, task.id)
        return raised
    }

    /// Enters a job into batches.
    package func enter(_ batches: [String], _ id: Int64) throws {
        let entry = "INSERT INTO batch_job(batch, job_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING"
        for name in batches { try execute(entry, [try batch(name), id]) }
    }

    /// Makes a job wait in the state of its task, or ends it if another job with its key is waiting. `before` is its
    /// previous state; nil if it has no task yet.
    ///
    /// - Returns: its end, if another superseded it.
    @discardableResult
    package func letWait(_ task: TaskRow, from before: JobState?) throws -> End? {
        if let duplicate = try waitingJob(for: task.uniqueKey), duplicate.id != task.id {
            return try supersede(task, from: before, by: duplicate)
        }
        if before == nil { try insert(task) } else { try update(task) }
        move(task, from: before, to: task.state)
        return nil
    }

    /// Ends a job in favour of another, into which it is merged.
    private func supersede(_ task: TaskRow, from before: JobState?, by duplicate: TaskRow) throws -> End {
        let batches: [String] = try column(
            "SELECT name FROM batch_job JOIN batch ON batch.id = batch_job.batch WHERE job_id = ?1 ORDER BY name",
            [task.id]
        )
        try join(duplicate, task, batches: batches)
        if task.isHooked {
            try execute(
                """
                INSERT INTO job_hook(job_id, hook, named_by)
                SELECT ?1, hook, named_by FROM job_hook WHERE job_id = ?2 ON CONFLICT DO NOTHING
                """,
                [duplicate.id, task.id]
            )
        }
        // The batches count the job that does the work, not the superseded one.
        try execute("DELETE FROM batch_job WHERE job_id = ?1", [task.id])
        let failure = JobFailure(
            .jobSuperseded,
            at: .request,
            "job \(duplicate.id) was already waiting for the same thumbnails"
        )
        let superseded = End(.cancelled, failure: failure, supersededBy: duplicate.id)
        try end(task, from: before, superseded)
        return superseded
    }
}
