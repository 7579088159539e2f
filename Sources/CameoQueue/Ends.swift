package import CameoModel
package import CameoStore
internal import Foundation

/// How a job ends.
package struct End: Sendable {
    package let state: JobState
    package var failure: JobFailure?
    package var supersededBy: Int64?

    package init(_ state: JobState, failure: JobFailure? = nil, supersededBy: Int64? = nil) {
        (self.state, self.failure, self.supersededBy) = (state, failure, supersededBy)
    }
}

extension LostJob {
    /// A job that ends because another program has deleted its row.
    package init(deleted id: Int64, from queue: String, attempt: Int) {
        let failure = JobFailure(.requestInvalid, at: .request, "another program has deleted its row")
        self.init(id: id, source: nil, queue: queue, attempt: attempt, failure: failure)
    }
}

extension QueueTransaction {
    /// Enters what every end of a job does, besides its outcome: counts, the change feed, and the deliveries to its hooks.
    package func enter(_ end: End, of job: QueuedJob, from before: JobState?) throws {
        move(job, from: before, to: end.state)
        if end.state == .discarded, let failure = end.failure { fail(failure.code, .finalFailures) }
        // The job that superseded it has inherited its hooks.
        if job.isHooked, end.supersededBy == nil { try deliver(end, of: job.id) }
    }

    /// Ends an attempt without thumbnails.
    ///
    /// - Throws: ``StoreError/leaseLost(jobID:)`` if the claim is no longer valid; then nothing was written.
    package func settle(_ claim: Claim, as end: AttemptEnd, timings: AttemptTimings) throws -> Settlement {
        var task = try take(claim)
        switch end {
        case .retry(let failure, let time):
            guard try close(task, as: .retryable, failure: failure, timings: timings) else { return .asAsked }
            fail(failure.code, .retriedFailures)
            (task.due, task.failed) = (time.milliseconds, task.tries)
            return try backOff(task)
        case .discard(let failure): return try discard(task, failure, timings)
        case .release:
            guard try close(task, as: .released) else { return .asAsked }
            return try giveBack(task, deaths: 0)
        case .postpone(let time): return try postpone(task, until: time)
        case .leave(let unable, let time):
            guard let worker = task.worker else { throw StoreError.leaseLost(jobID: task.id) }
            try add(unable.lack, of: worker)
            guard let failure = unable.failure(on: try hosts(of: task, besides: worker, lacking: unable.lack)) else {
                return try postpone(task, until: time)
            }
            _ = try discard(task, failure, timings)
            // A request may name any folder: only of those that some host has, it is kept who lacks them.
            if case .files = unable.lack {
                try execute("DELETE FROM worker_lack WHERE lack = ?1", [unable.lack.description])
            }
            return .discarded(failure)
        }
    }

    private func discard(_ task: TaskRow, _ failure: JobFailure, _ timings: AttemptTimings) throws -> Settlement {
        guard try close(task, as: .discarded, failure: failure, timings: timings) else { return .asAsked }
        try end(task, from: .running, End(.discarded, failure: failure))
        return .asAsked
    }

    private func backOff(_ task: TaskRow) throws -> Settlement {
        var task = task
        (task.state, task.token, task.worker) = (.retryable, nil, nil)
        return Settlement(try letWait(task, from: .running))
    }

    /// Makes a running job wait until a time as if it had not been claimed.
    private func postpone(_ task: TaskRow, until time: Date) throws -> Settlement {
        var task = task
        (task.due, task.attempt, task.tries) = (time.milliseconds, max(0, task.attempt - 1), task.tries - 1)
        return try backOff(task)
    }

    /// Releases a running job to wait again without counting the attempt. `deaths` is the number of worker deaths to
    /// add.
    package func giveBack(_ task: TaskRow, deaths: Int) throws -> Settlement {
        loseClaim(of: task)
        var waiting = task
        (waiting.state, waiting.token, waiting.worker) = (.available, nil, nil)
        waiting.attempt = max(0, task.attempt - 1)
        waiting.crashCount += deaths
        return Settlement(try letWait(waiting, from: .running))
    }

    /// The hosts of the live workers that take jobs of a task's queue, and of one more, and whether they lack something.
    private func hosts(
        of task: TaskRow,
        besides worker: String,
        lacking lack: HostLack
    ) throws -> [(host: String, lacks: Bool)] {
        let queue = "(SELECT name FROM queue WHERE id = ?3)"
        let takes =
            dialect.isSQLite
            ? "EXISTS (SELECT 1 FROM json_each(queues) WHERE value = \(queue))" : "\(queue) = ANY(queues)"
        let lease = runningLease
        return try query(
            """
            SELECT host, EXISTS (
              SELECT 1 FROM worker_lack WHERE worker_lack.worker = worker.id AND lack = ?1) AS lacks
            FROM worker
            WHERE id = ?2 OR (stop_mode IS NULL AND \(lease.condition) AND (queues IS NULL OR \(takes)))
            """,
            [lack.description, worker, task.queue] + lease.values
        )
        .map { (host: try $0["host"], lacks: try $0["lacks"]) }
    }

    /// Records what a worker's host lacks.
    package func add(_ lack: HostLack, of worker: String) throws {
        try execute(
            "INSERT INTO worker_lack SELECT id, ?1 FROM worker WHERE id = ?2 ON CONFLICT DO NOTHING",
            [lack.description, worker]
        )
    }

    /// A worker's running jobs in the order of their ids, so that the first of two for the same thumbnails waits again.
    package func runningTasks(of worker: String) throws -> [TaskRow] {
        try tasks("\(dialect.indexed(by: "task_running")) WHERE state = 2 AND worker = ?1 ORDER BY id", [worker])
    }

    /// Makes running jobs available again, without counting their attempts.
    package func release(_ tasks: [TaskRow], as outcome: JobAttempt.Outcome) throws {
        for task in tasks where try close(task, as: outcome) { _ = try giveBack(task, deaths: 0) }
    }

    /// Removes a worker, and makes what it has claimed wait again.
    package func deregister(_ worker: String) throws {
        try release(try runningTasks(of: worker), as: .released)
        try releaseDeliveries(of: worker)
        try execute("DELETE FROM worker WHERE id = ?1", [worker])
    }

    /// Takes a job from a worker that was lost, and makes it wait again or discards it after too many deaths.
    package func rescue(_ task: TaskRow, deaths: Int, into report: inout RescueReport) throws {
        guard try close(task, as: .interrupted) else { return }
        guard task.crashCount + deaths < ClaimKind.discardAfterCrashes else {
            var dead = task
            dead.crashCount += deaths
            return try discardLost(dead, into: &report)
        }
        if try giveBack(task, deaths: deaths) == .asAsked { report.rescued += 1 }
    }

    /// Discards a job whose workers died too often.
    package func discardLost(_ task: TaskRow, into report: inout RescueReport) throws {
        let failure = JobFailure(
            .workerLost,
            at: .worker,
            "a worker died while running this job for the \(ClaimKind.discardAfterCrashes)th time"
        )
        try end(task, from: task.state, End(.discarded, failure: failure))
        let row = try row(
            """
            SELECT \(dialect.field("source")) AS source, (SELECT name FROM queue WHERE id = ?2) AS queue
            FROM job WHERE id = ?1
            """,
            [task.id, task.queue]
        )
        report.discarded.append(
            LostJob(
                id: task.id,
                source: try row?["source"],
                queue: try row?["queue"] ?? "",
                attempt: task.attempt,
                failure: failure
            )
        )
    }
}
